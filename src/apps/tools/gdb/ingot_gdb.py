# SPDX-License-Identifier: Apache-2.0
"""gdb on Metal: printers for vectors, matrices, textures and samplers, and commands for the threads of a threadgroup.

`ingot debug` loads this file; in a gdb of your own: source FILE, and run the program with MTL_SHADER_DEBUG=1.

Kernels run thread by thread then, on one thread of the program. Where a threadgroup has barriers or SIMD-group
functions each of its threads has a stack of its own and stops there until the others have come: its registers lie on
that stack. `metal-thread` puts them into the machine's registers, so that gdb shows that thread with everything it
has, and puts the others back before the program goes on.

What is read from the program's memory: `ingot_debug` (words for debuggers), Lane and Group of the code
(codegen/support/lanes.c), AbiTexture and AbiSampler (abi/texture.h).
"""
import os
import re
import struct

import gdb
import gdb.printing
from gdb.FrameDecorator import FrameDecorator

# ---- Memory ----


def memory(at, n_bytes):
    return gdb.selected_inferior().read_memory(at, n_bytes).tobytes()


def words(at, form):
    return struct.unpack("<" + form, memory(at, struct.calcsize("<" + form)))


# ---- Values ----


def names_of_formats():
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pixel_formats.def")
    try:
        with open(table, encoding="utf-8") as f:
            return {int(n): name for name, n in re.findall(r"^ABI_PIXEL_FORMAT\((\w+), (\d+)", f.read(), re.M)}
    except OSError:
        return {}


FORMATS = names_of_formats()
POOLED, RESIDENCY = 1 << 62, 1 << 61


class Vector:
    """vec<T, N> and packed_vec<T, N>: (1, 2, 3)."""

    def __init__(self, value):
        self.value = value

    def parts(self):
        n = int(self.value.type.strip_typedefs().unqualified().template_argument(1))
        return [self.value["xyzw"[i]] for i in range(n)]

    def to_string(self):
        return "(" + ", ".join(part.format_string() for part in self.parts()) + ")"


class Matrix:
    """matrix<T, Columns, Rows>: its columns."""

    def __init__(self, value):
        self.value = value

    def columns(self):
        n = int(self.value.type.strip_typedefs().unqualified().template_argument(1))
        return [self.value["columns"][i] for i in range(n)]

    def to_string(self):
        return "columns " + " ".join(Vector(column).to_string() for column in self.columns())


class Texture:
    """Every texture: sizes, format, levels. $texel(t, x, y, z, level) reads one."""

    TYPES = ["1D", "1D array", "2D", "2D array", "2D multisample", "cube", "cube array", "3D", "2D multisample array"]
    KINDS = {"Unorm": 0, "Unorm_sRGB": 0, "Snorm": 1, "Uint": 2, "Sint": 3, "Float": 4}
    LEVEL_AT, LEVEL_BYTES = 48, 40

    def __init__(self, value):
        self.value = value
        self.handle = int(value["__handle"])
        self.at = self.handle & ~RESIDENCY
        self.known = self.at and not self.at & POOLED

    def facts(self):
        return words(self.at, "6IHB")

    def to_string(self):
        if not self.known:
            return "no texture" if not self.handle else f"a view in a pool, number {self.at & (POOLED - 1)}"
        width, height, depth, n_slices, n_levels, n_samples, form, kind = self.facts()
        size = [width]
        if height > 1 or kind >= 2:
            size.append(height)
        if kind == 7:
            size.append(depth)
        text = " x ".join(str(n) for n in size) + f" {FORMATS.get(form, f'format {form}')}"
        text += f", {self.TYPES[kind]}" if kind < len(self.TYPES) else ""
        for n, what in ((n_slices, "slices"), (n_levels, "levels"), (n_samples, "samples")):
            if n > 1:
                text += f", {n} {what}"
        return text

    def texel(self, x, y=0, z=0, level=0):
        if not self.known:
            raise gdb.GdbError("no texture")
        n_levels, form = self.facts()[4], FORMATS.get(self.facts()[6], "?")
        if not 0 <= level < n_levels:
            raise gdb.GdbError(f"the texture has {n_levels} levels")
        data, row, layer, width, height, _ = words(self.at + self.LEVEL_AT + level * self.LEVEL_BYTES, "3Q3I")
        found = re.fullmatch(r"(R|RG|RGBA|BGRA)(8|16|32)(Unorm|Unorm_sRGB|Snorm|Uint|Sint|Float)", form)
        if not found:
            raise gdb.GdbError(f"texels of {form} cannot be shown; a texture::read() in the shader can")
        if not (0 <= x < width and 0 <= y < height):
            raise gdb.GdbError(f"level {level} has {width} x {height} texels")
        letters, bits, kind = found[1], int(found[2]), self.KINDS[found[3]]
        code = {8: "BbBb", 16: "HhHhe", 32: "IiIif"}[bits][kind]
        at = data + z * layer + y * row + x * len(letters) * bits // 8
        parts = dict(zip(letters.lower(), words(at, code * len(letters))))
        scale = {0: (1 << bits) - 1, 1: (1 << (bits - 1)) - 1}.get(kind)
        in_order = [parts[c] for c in "rgba" if c in parts]
        return "(" + ", ".join(f"{max(p / scale, -1.0):g}" if scale else f"{p:g}" for p in in_order) + ")"


class Sampler:
    """sampler: filters and address modes."""

    FILTERS, MODES = ["nearest", "linear"], ["clamp_to_edge", "mirror_clamp_to_edge", "repeat", "mirrored_repeat",
                                             "clamp_to_zero", "clamp_to_border"]

    def __init__(self, value):
        self.handle = int(value["__handle"])

    def to_string(self):
        if not self.handle:
            return "no sampler"
        if self.handle & 1:  # constexpr: packed
            low, mode = self.handle >> 1 & 1, self.handle >> 5 & 7
            high = self.handle >> 2 & 1
        else:
            low, high, _, mode = words(self.handle, "4B")
        name = self.MODES[mode] if mode < len(self.MODES) else f"mode {mode}"
        return f"min {self.FILTERS[low & 1]}, mag {self.FILTERS[high & 1]}, {name}"


class Atomic:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return self.value["__value"].format_string()


class Array:
    """array<T, N>."""

    def __init__(self, value):
        self.elements = value["__elements"]

    def to_string(self):
        return self.elements.format_string()


def add_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("ingot")
    for name, pattern, printer in (("vector", "(packed_)?vec<.*, [234]>", Vector),
                                   ("matrix", "matrix<.*>", Matrix), ("texture", "(texture|depth)(1d|2d|3d|cube).*", Texture),
                                   ("sampler", "sampler", Sampler), ("atomic", "atomic<.*>", Atomic),
                                   ("array", "array<.*>", Array)):
        printers.add_printer(name, f"^metal::{pattern}$", printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)


class TexelFunction(gdb.Function):
    """$texel(TEXTURE, X [, Y [, Z or slice [, LEVEL]]]): one texel, as a text."""

    def __init__(self):
        super().__init__("texel")

    def invoke(self, texture, *place):
        return Texture(texture).texel(*(int(p) for p in place))


# ---- Threads ----

KERNEL, VERTEX, FRAGMENT = range(3)
STATES = ["waits for its turn", "at a SIMD-group function", "at a barrier", "done"]
# Registers that a thread keeps while it waits, in the order of its stack, and what is behind them (switch_stack).
SAVED = {"i386:x86-64": (["r15", "r14", "r13", "r12", "rbx", "rbp", "rip"], "rsp", 56),
         "aarch64": ([f"x{n}" for n in range(19, 31)], "sp", 160)}


def is_code(pc):
    """Whether an address lies in compiled Metal code: the path of its file, or None."""
    name = gdb.current_progspace().solib_name(pc) if 4096 < pc < 1 << 47 else None
    return name if name and re.fullmatch(r"kernel-[0-9a-f]+\.so", os.path.basename(name)) else None


def find_code():
    """ingot_debug of the code object that this thread of the program runs."""
    try:
        frame = gdb.newest_frame()
    except gdb.error as e:
        raise gdb.GdbError("nothing runs") from e
    for _ in range(200):
        name = is_code(frame.pc())
        if name:
            found = gdb.lookup_objfile(name).lookup_global_symbol("ingot_debug")
            if found:
                return found.value()
        frame = frame.older()
        if frame is None:
            break
    raise gdb.GdbError("this thread of the program runs no Metal function (`info threads`, `thread N` to another one)")


class Threadgroup:
    """What runs: a threadgroup, or a step of 32 vertices or pixels."""

    def __init__(self):
        values = find_code()
        (self.group, self.frames, self.stride, self.n, _, self.current) = (int(values[i]) for i in range(6))
        (launch, self.memory, _, *rest) = words(self.group, "3Q3I3III")
        self.position, self.size, self.stage = rest[0:3], rest[3:6], rest[7]
        self.group_size = words(launch + 32, "3I")
        self.index_now = words(self.current + 28, "I")[0]

    def runs(self, index):
        """Steps of vertices and pixels may have fewer than 32."""
        if self.stage == VERTEX:
            return index < words(self.memory, "I")[0]
        return self.stage != FRAGMENT or words(self.memory + 8, "I")[0] >> (index & ~3) & 15 != 0

    def indices(self):
        return [index for index in range(self.n) if self.runs(index)]

    def names(self):
        return {KERNEL: "kernel", VERTEX: "vertex function", FRAGMENT: "fragment function"}.get(self.stage, "kernel")

    def place(self, index):
        """Position in the grid, vertex number, or pixel."""
        if self.stage == VERTEX:
            (vertices,) = words(self.memory + 24, "Q")
            return (words(vertices + 4 * index, "I")[0],)
        if self.stage == FRAGMENT:
            x, y = words(self.memory, "2i")
            quad = index // 4
            return (x + quad % 4 * 2 + index % 2, y + quad // 4 * 2 + index // 2 % 2)
        inside = (index % self.size[0], index // self.size[0] % self.size[1], index // self.size[0] // self.size[1])
        return tuple(p * g + i for p, g, i in zip(self.position, self.group_size, inside))

    def find(self, place):
        n = 3 if self.stage in (KERNEL,) or self.stage > FRAGMENT else len(self.place(0))
        place = tuple(place) + (0,) * (n - len(place))
        indices = self.indices()
        for index in indices:
            if self.place(index) == place:
                return index
        first, last = (",".join(map(str, self.place(i))) for i in (indices[0], indices[-1]))
        wanted = ",".join(map(str, place))
        raise gdb.GdbError(f"{wanted} is not one of the threads that run now: {first} to {last}")

    def state(self, index):
        if index == self.index_now:
            return "running"
        if not self.frames:
            return "done" if index < self.index_now else "not begun"
        state = words(self.frames + index * self.stride + 32, "I")[0]
        if state == 0 and self.registers(index)[0]["name"] == "first_step":
            return "not begun"
        return STATES[state] if state < len(STATES) else "?"

    def registers(self, index):
        """Of a thread that waits: where it is, and the registers that it had."""
        names, stack, n_bytes = SAVED[gdb.newest_frame().architecture().name()]
        (sp,) = words(self.frames + index * self.stride, "Q")
        values = dict(zip(names, words(sp, f"{len(names)}Q")))
        if "rip" in values:
            pc = values["rip"]
        else:
            pc = values["x30"]
            values["pc"] = pc
        values[stack] = sp + n_bytes
        symbol = gdb.execute(f"info symbol {pc:#x}", to_string=True)
        return {"name": symbol.split(" ")[0], "pc": pc}, values


swapped = {}  # number of the program's thread -> its registers


def write_registers(values):
    gdb.newest_frame().select()
    last = "rip" if "rip" in values else "pc"
    for name, value in values.items():
        if name != last:
            gdb.parse_and_eval(f"${name} = {value:#x}")
    gdb.parse_and_eval(f"${last} = {values[last]:#x}")


def put_back(*_):
    """The registers of the thread that really runs: before the program goes on."""
    thread = gdb.selected_thread()
    values = swapped.pop(thread.num, None) if thread else None
    if values:
        write_registers(values["registers"])
        return True
    return False


def select_source():
    """The newest frame that has a source line."""
    frame = gdb.newest_frame()
    while frame is not None and not (frame.find_sal().symtab and frame.find_sal().line):
        frame = frame.older()
    (frame or gdb.newest_frame()).select()


def enter(group, index):
    """Makes gdb look at a thread that waits."""
    state = group.state(index)
    if state in ("done", "not begun"):
        why = "" if group.frames else ": without barriers threads run one after the other"
        raise gdb.GdbError(f"thread {','.join(map(str, group.place(index)))} is {state}{why}")
    put_back()
    if index != group.index_now:
        _, values = group.registers(index)
        newest = gdb.newest_frame()
        own = {name: int(newest.read_register(name)) & ((1 << 64) - 1) for name in values}
        swapped[gdb.selected_thread().num] = {"registers": own, "index": index}
        write_registers(values)
    select_source()


def parse_place(text):
    try:
        place = [int(part) for part in text.split(",")]
    except ValueError as e:
        raise gdb.GdbError(f"'{text}' is not a position: X, X,Y or X,Y,Z") from e
    if not 1 <= len(place) <= 3 or min(place) < 0:
        raise gdb.GdbError(f"'{text}' is not a position: X, X,Y or X,Y,Z")
    return place


class InfoMetalThreads(gdb.Command):
    """The Metal threads of the threadgroup that runs: where each of them is."""

    def __init__(self):
        super().__init__("info metal-threads", gdb.COMMAND_STATUS)

    def invoke(self, arg, _from_tty):
        shown = swapped.get(gdb.selected_thread().num) if gdb.selected_thread() else None
        group = with_own_registers(Threadgroup)
        looked_at = shown["index"] if shown else group.index_now
        what = "threadgroup " + ",".join(map(str, group.position)) if group.stage == KERNEL else group.names()
        print(f"{what}, {len(group.indices())} threads")
        for index in group.indices():
            state = group.state(index)
            mark = "*" if index == looked_at else " "
            print(f"{mark} {','.join(map(str, group.place(index))):<12} {state}{self.where(group, index, state)}")

    @staticmethod
    def where(group, index, state):
        if state in ("done", "not begun"):
            return ""
        pc = None
        if state == "running":
            saved = swapped.get(gdb.selected_thread().num)
            frame = gdb.newest_frame()
            pc = (saved["registers"].get("rip", saved["registers"].get("pc"))) if saved else frame.pc()
            sal = gdb.find_pc_line(pc)
        else:
            sal = line_of_waiting(group, index)
        return f", {os.path.basename(sal.symtab.filename)}:{sal.line}" if sal and sal.symtab else ""


def line_of_waiting(group, index):
    """The source line at which a thread waits: the nearest return address on its stack that has one."""
    (sp,) = words(group.frames + index * group.stride, "Q")
    top = group.frames + (index + 1) * group.stride
    for value in struct.unpack(f"<{min(top - sp, 2048) // 8}Q", memory(sp, min(top - sp, 2048) // 8 * 8)):
        if is_code(value):
            sal = gdb.find_pc_line(value - 1)
            if sal.symtab and sal.line:
                return sal
    return None


def with_own_registers(make):
    """What `make` returns, called while the registers are those of the thread that runs."""
    saved = swapped.get(gdb.selected_thread().num) if gdb.selected_thread() else None
    if not saved:
        return make()
    names = saved["registers"]
    frame = gdb.newest_frame()
    there = {name: int(frame.read_register(name)) & ((1 << 64) - 1) for name in names}
    write_registers(names)
    try:
        return make()
    finally:
        write_registers(there)
        select_source()


class MetalThread(gdb.Command):
    """Look at another Metal thread of the threadgroup: metal-thread [X[,Y[,Z]] | all] [COMMAND].

metal-thread 5,3         the thread at 5,3 of the grid (a pixel, or a vertex number): bt, print and the like show it
metal-thread 5,3 bt      the same for one command
metal-thread all bt 1    the command for all threads that have begun and are not done
metal-thread             back to the thread that runs; the program goes on from there in any case"""

    def __init__(self):
        super().__init__("metal-thread", gdb.COMMAND_STACK)

    def invoke(self, arg, _from_tty):
        place, _, command = arg.strip().partition(" ")
        group = with_own_registers(Threadgroup)
        if not place:
            put_back()
            select_source()
            self.show(group, group.index_now)
        elif place == "all":
            self.all(group, command or "frame")
        elif command:
            self.once(group, group.find(parse_place(place)), command)
        else:
            index = group.find(parse_place(place))
            enter(group, index)
            self.show(group, index)

    @staticmethod
    def show(group, index):
        print(f"[Metal thread {','.join(map(str, group.place(index)))}: {group.state(index)}]")
        gdb.execute("frame")

    @staticmethod
    def once(group, index, command):
        before = swapped.get(gdb.selected_thread().num)
        enter(group, index)
        try:
            gdb.execute(command)
        finally:
            put_back()
            if before:
                enter(group, before["index"])
            else:
                select_source()

    def all(self, group, command):
        for index in group.indices():
            state = group.state(index)
            if state in ("done", "not begun"):
                continue
            print(f"\n[Metal thread {','.join(map(str, group.place(index)))}: {state}]")
            try:
                self.once(group, index, command)
            except gdb.error as e:
                print(e)


# Commands that let the program go on put the registers back first. An editor's do not run hooks: there the event
# that gdb sends before it resumes does it.
RESUMING = ["continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "signal", "detach",
            "kill", "run", "start", "reverse-step", "reverse-next", "reverse-continue", "thread"]


class PutBack(gdb.Command):
    """Back to the Metal thread that runs, silently."""

    def __init__(self):
        super().__init__("metal-thread-put-back", gdb.COMMAND_OBSCURE)

    def invoke(self, arg, _from_tty):
        if put_back():
            gdb.newest_frame().select()


def add_hooks():
    for command in RESUMING:
        gdb.execute(f"define hook-{command}\nmetal-thread-put-back\nend", to_string=True)
    gdb.events.cont.connect(put_back)
    gdb.events.exited.connect(lambda _: swapped.clear())


# ---- One thread of many ----


class Focus(gdb.Command):
    """Stop in one Metal thread only; without an argument in all again:

metal-focus X[,Y[,Z]]    the thread of a kernel at this position in the grid
metal-focus pixel X,Y    the fragment function, for this pixel
metal-focus vertex N     the vertex function, for this vertex_id

Breakpoints in compiled Metal code are switched on while that thread has its turn. A condition on
thread_position_in_grid does the same and costs a stop of the program for every thread."""

    def __init__(self):
        super().__init__("metal-focus", gdb.COMMAND_BREAKPOINTS)
        self.kind, self.place, self.turns, self.off = 0, None, [], []
        gdb.events.new_objfile.connect(lambda event: self.tell(event.new_objfile))

    def invoke(self, arg, _from_tty):
        words_given = arg.split()
        kinds = ["", "thread", "pixel", "vertex"]  # as codegen/support/lanes.c counts them
        self.kind = kinds.index(words_given.pop(0)) if words_given and words_given[0] in kinds else 1
        place = parse_place(" ".join(words_given)) if words_given else None
        self.place = (place + [0, 0])[:3] if place else None
        for objfile in gdb.objfiles():
            self.tell(objfile)
        if self.place:
            self.end()
        else:
            self.begin()

    def tell(self, objfile):
        """Code that is loaded learns which thread is wanted."""
        if not re.fullmatch(r"kernel-[0-9a-f]+\.so", os.path.basename(objfile.filename or "")):
            return
        found = objfile.lookup_global_symbol("ingot_wanted")
        if found:
            wanted = struct.pack("<4I", self.kind if self.place else 0, *(self.place or (0, 0, 0)))
            gdb.selected_inferior().write_memory(int(found.value().address), wanted)
        if found and self.place and not self.turns:
            self.turns = [Turn("ingot_thread_wanted", self.begin), Turn("ingot_thread_left", self.end)]

    def begin(self):
        for breakpoint in self.off:
            if breakpoint.is_valid():
                breakpoint.enabled = True
        self.off = []

    def end(self):
        for breakpoint in gdb.breakpoints():
            if breakpoint.enabled and not isinstance(breakpoint, Turn) and (breakpoint.pending or self.is_in_code(breakpoint)):
                self.off.append(breakpoint)
                breakpoint.enabled = False

    @staticmethod
    def is_in_code(breakpoint):
        if not hasattr(breakpoint, "locations"):
            return ".metal" in (breakpoint.location or "")
        return any(is_code(place.address) for place in breakpoint.locations)


class Turn(gdb.Breakpoint):
    def __init__(self, function, act):
        super().__init__(function, internal=True)
        self.silent, self.act = True, act

    def stop(self):
        self.act()
        return False


class KeptOn:
    """gdb (13 to 16) switches a breakpoint off at the next library that is loaded if it got its condition while it was
    pending, which is how editors give it one. Nobody asked for that: when Metal code comes it is on again."""

    def __init__(self):
        self.on = set()  # numbers
        gdb.events.breakpoint_created.connect(self.note)
        gdb.events.breakpoint_modified.connect(self.note)
        gdb.events.new_objfile.connect(lambda event: self.switch_on(event.new_objfile))

    def note(self, breakpoint):
        """Of what is said about it; gdb says nothing when it does it by itself."""
        if breakpoint.enabled:
            self.on.add(breakpoint.number)
        else:
            self.on.discard(breakpoint.number)

    def switch_on(self, objfile):
        if not re.fullmatch(r"kernel-[0-9a-f]+\.so", os.path.basename(objfile.filename or "")):
            return
        for breakpoint in gdb.breakpoints():
            if breakpoint.number in self.on and breakpoint.pending and not breakpoint.enabled:
                breakpoint.enabled = True


# ---- Frames ----


class PlainName(FrameDecorator):
    """A function by its name alone, as without frame filters."""

    def function(self):
        name = super().function()
        return name.partition("(")[0] if isinstance(name, str) and is_code(self.inferior_frame().pc()) else name


class HideInternals:
    """Frames of Ingot's own in compiled code (the loop over threads) are not shown."""

    def __init__(self):
        self.name, self.priority, self.enabled = "ingot", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        for decorator in frames:
            if not self.is_internal(decorator.inferior_frame()):
                yield PlainName(decorator)

    @staticmethod
    def is_internal(frame):
        return frame.pc() == 0 or (is_code(frame.pc()) and not frame.find_sal().line)


def set_up():
    gdb.execute("handle SIGURG nostop noprint pass", to_string=True)  # ends kernels that take too long
    gdb.execute("set breakpoint pending on")  # code is made when a pipeline is
    gdb.execute("set print static-members off")
    add_printers()
    TexelFunction()
    InfoMetalThreads()
    MetalThread()
    Focus()
    KeptOn()
    PutBack()
    add_hooks()
    HideInternals()


set_up()
