# Programs of tests/api that run on the null device, too: object rules, labels, counts, errors, validation, lifetimes.
# Those of their tests that need results begin with NEEDS_RESULTS() and are skipped there.

# Nothing is compiled in them.
set(NULL_PLAIN blit heap layer objects pvrtc residency shared_event shared_event_process tensor tensor_memory texture
    texture_copy texture_view)
# Functions come from source, the same in each run: without a compiler they come from a cache that was made elsewhere.
set(NULL_COMPILED argument as_a_mac commands counters event fence indirect link_tables memory metal4_memory reflection render_rules
    sync_memory validation)
# The same, but there is source that the compiler has to refuse, or that differs from run to run.
set(NULL_COMPILES library link_dynamic link_memory metal4_commands metal4_compiler misuse)
