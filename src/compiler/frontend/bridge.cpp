// SPDX-License-Identifier: Apache-2.0
// bridge.cpp: the only C++ of the project, the way to Clang's and lld's C++ API. Kept small on
// purpose: it turns stock Clang into an MSL compiler (dialect, address-space rules, names), hands
// the tokens to the C pass and parses what comes back, forwards diagnostics, walks the entry points
// for reflection, and lends the finished module to C. Interface and types: bridge.h.
#include "compiler/compiler.h"
#include "compiler/frontend/bridge.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/DiagnosticLex.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/Stack.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnostic.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/EnterExpressionEvaluationContext.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Sema.h"
#include "lld/Common/Driver.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm-c/DebugInfo.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
using namespace clang;
using llvm::StringRef;

LLD_HAS_DRIVER(elf)

// Target: the front end's SPIR triple keeps vectors whole in calls (SysV would pass pairs of
// doubles), with the data layout of the machine and Metal's rules between address spaces.
static const char x86Layout[] =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

struct MslTarget : TargetInfo {
    TargetInfo *base;
    explicit MslTarget(TargetInfo *b) : TargetInfo(*b), base(b) {
        static const LangASMap flat = {};
        AddrSpaceMap = &flat;
        UseAddrSpaceMapMangling = false;
        resetDataLayout(x86Layout);
    }
    // Generic and default contain every space, so that structs copy out of `constant`; private
    // contains generic and default, so that temporaries bind to `thread`.
    bool isAddressSpaceSupersetOf(LangAS a, LangAS b) const override {
        if (a == b || a == LangAS::opencl_generic || a == LangAS::Default) return true;
        return a == LangAS::opencl_private && (b == LangAS::opencl_generic || b == LangAS::Default);
    }
    bool hasBFloat16Type() const override { return true; }
    bool hasFeature(StringRef f) const override { return base->hasFeature(f); }
    bool isValidCPUName(StringRef n) const override { return base->isValidCPUName(n); }
    bool initFeatureMap(llvm::StringMap<bool> &f, DiagnosticsEngine &d, StringRef cpu,
                        const std::vector<std::string> &v) const override {
        return base->initFeatureMap(f, d, cpu, v);
    }
    void getTargetDefines(const LangOptions &, MacroBuilder &) const override {
    } // __SPIR__ and friends
    llvm::SmallVector<Builtin::InfosShard> getTargetBuiltins() const override {
        return base->getTargetBuiltins();
    }
    BuiltinVaListKind getBuiltinVaListKind() const override { return base->getBuiltinVaListKind(); }
    bool validateAsmConstraint(const char *&, TargetInfo::ConstraintInfo &) const override {
        return false;
    }
    std::string_view getClobbers() const override { return ""; }
    ArrayRef<const char *> getGCCRegNames() const override { return {}; }
    ArrayRef<GCCRegAlias> getGCCRegAliases() const override { return {}; }
};

struct BridgeJob : DiagnosticConsumer {
    const BridgeClient *client;
    CompilerInstance *ci = nullptr;
    CodeGenerator *generator = nullptr;
    const Decl *current = nullptr; // being reflected
    std::deque<std::string> text;  // keeps strings alive that are handed to the client
    std::vector<const FunctionDecl *> functions;
    std::vector<const VarDecl *> variables;
    std::vector<const VarDecl *> threadgroupVariables; // of functions that may be no entry points
    bool statementsInExpressions = false;              // lambdas
    // Templates of kernels, and what the source says is to be made of them: that is put off to its
    // end. Then the number of each, and the share of this run.
    std::vector<FunctionDecl *> held;
    llvm::DenseMap<const FunctionDecl *, size_t> numbers;
    BridgeShare share = {0, SIZE_MAX, false};
    llvm::DenseMap<FileID, bool> ours; // files: of our own headers
    bool makes(const FunctionDecl *f) const {
        auto n = numbers.find(f);
        return n == numbers.end() ? !share.part : n->second >= share.from && n->second < share.to;
    }

    const char *keep(std::string s) { return text.emplace_back(std::move(s)).c_str(); }
    void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &d) override;
};

// Our headers by the paths that they have here, where a line of text names one: as its first word,
// behind "from ", or in a mark of the preprocessor's.
static std::string whereItLies(const BridgeClient *client, std::string text) {
    static const char name[] = BRIDGE_STDLIB "/";
    const size_t n = sizeof name - 1;
    if (!client->stdlib) return text;
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at++) {
        size_t line = text.rfind('\n', at);
        StringRef before = StringRef(text).slice(line == std::string::npos ? 0 : line + 1, at);
        if (before.empty() || before.ends_with(" from ") ||
            (before.starts_with("#") && before.ends_with("\"")))
            text.replace(at, n - 1, client->stdlib);
    }
    return text;
}

static BridgeDiagKind diagKind(unsigned id) {
    switch (id) {
    case diag::err_typecheck_cond_incompatible_operands:
    case diag::err_conditional_ambiguous: return BRIDGE_DIAG_COND_OPERANDS;
    case diag::err_bad_cxx_cast_generic: return BRIDGE_DIAG_BAD_CAST;
    case diag::err_bad_cxx_cast_vector_to_vector_different_size: return BRIDGE_DIAG_VECTOR_CAST;
    case diag::err_ovl_ambiguous_oper_binary: return BRIDGE_DIAG_AMBIGUOUS_OPERATOR;
    case diag::err_ovl_ambiguous_member_call: return BRIDGE_DIAG_AMBIGUOUS_MEMBER;
    case diag::err_typecheck_invalid_operands: return BRIDGE_DIAG_BAD_OPERANDS;
    case diag::err_pp_file_not_found: return BRIDGE_DIAG_NO_FILE;
    case diag::err_typecheck_subscript_value:
    case diag::err_typecheck_unary_expr: return BRIDGE_DIAG_BAD_OPERAND;
    default: return BRIDGE_DIAG_OTHER;
    }
}

void BridgeJob::HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &d) {
    DiagnosticConsumer::HandleDiagnostic(level, d);
    if (level < DiagnosticsEngine::Note) return;
    llvm::SmallString<256> message;
    d.FormatDiagnostic(message);
    BridgeDiagnostic b = {};
    b.severity = level == DiagnosticsEngine::Note || level == DiagnosticsEngine::Remark ? 1
                 : level == DiagnosticsEngine::Warning                                  ? 2
                 : level == DiagnosticsEngine::Error                                    ? 3
                                                                                        : 4;
    b.kind = diagKind(d.getID());
    if (b.kind == BRIDGE_DIAG_VECTOR_CAST && message.starts_with(" ")) // Clang has no word for it
        message = ("cannot convert" + message.str()).str();
    b.message = message.c_str();
    b.file = "";
    std::string optionText =
        level == DiagnosticsEngine::Warning
            ? d.getDiags()->getDiagnosticIDs()->getWarningOptionForDiag(d.getID()).str()
            : "";
    b.option = optionText.c_str();
    b.raw = &d;
    std::vector<BridgeRange> ranges;
    std::string file;
    if (d.hasSourceManager() && d.getLocation().isValid()) {
        SourceManager &sm = d.getSourceManager();
        PresumedLoc p = sm.getPresumedLoc(sm.getFileLoc(d.getLocation()));
        b.location = d.getLocation().getRawEncoding();
        b.in_system = bridge_in_system(this, b.location);
        if (p.isValid())
            file = whereItLies(client, p.getFilename()), b.line = p.getLine(),
            b.column = p.getColumn();
        b.file = file.c_str();
        for (const CharSourceRange &r : d.getRanges())
            ranges.push_back({r.getBegin().getRawEncoding(), r.getEnd().getRawEncoding()});
        b.ranges = ranges.data(), b.n_ranges = ranges.size();
    }
    client->diagnostic(client->context, this, &b);
}

char *bridge_render(BridgeJob *job, const BridgeDiagnostic *b, int severity, const char *message) {
    const Diagnostic &d = *static_cast<const Diagnostic *>(b->raw);
    static const DiagnosticsEngine::Level levels[] = {
        DiagnosticsEngine::Ignored, DiagnosticsEngine::Note, DiagnosticsEngine::Warning,
        DiagnosticsEngine::Error, DiagnosticsEngine::Fatal};
    std::string out;
    llvm::raw_string_ostream os(out);
    DiagnosticOptions options;
    // `#line 4294967295`: the number behind it is small, and Clang's margin gigabytes wide.
    options.ShowLineNumbers = b->line < 1000000000;
    LangOptions lang;
    TextDiagnostic printer(
        os, job->ci && job->ci->hasPreprocessor() ? job->ci->getLangOpts() : lang, options);
    FullSourceLoc at =
        b->location ? FullSourceLoc(d.getLocation(), d.getSourceManager()) : FullSourceLoc();
    printer.emitDiagnostic(at, levels[severity], message, d.getRanges(), d.getFixItHints());
    return strdup(whereItLies(job->client, out).c_str());
}

void bridge_report(BridgeJob *job, int severity, uint32_t location, const char *message) {
    DiagnosticsEngine &de = job->ci->getDiagnostics();
    auto level = severity == 1   ? DiagnosticsEngine::Note
                 : severity == 2 ? DiagnosticsEngine::Warning
                                 : DiagnosticsEngine::Error;
    de.Report(SourceLocation::getFromRawEncoding(location), de.getCustomDiagID(level, "%0"))
        << message;
}

static bool isUnder(const char *folder, StringRef file) {
    if (!folder) return false;
    llvm::SmallString<256> path(file), ours(folder);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    llvm::sys::path::remove_dots(ours, /*remove_dot_dot=*/true);
    return path.str().starts_with(ours) && path.str().drop_front(ours.size()).starts_with("/");
}

// What the precompiled headers hold is ours too.
static bool isOurs(BridgeJob *job, FileID id) {
    SourceManager &sm = job->ci->getSourceManager();
    if (sm.isLoadedFileID(id)) return true;
    auto known = job->ours.find(id);
    if (known != job->ours.end()) return known->second;
    OptionalFileEntryRef file = sm.getFileEntryRefForID(id);
    return job->ours[id] = file && isUnder(BRIDGE_STDLIB, file->getName());
}

bool bridge_in_system(BridgeJob *job, uint32_t location) {
    SourceLocation l = SourceLocation::getFromRawEncoding(location);
    SourceManager &sm = job->ci->getSourceManager();
    return l.isValid() && isOurs(job, sm.getFileID(sm.getFileLoc(l)));
}

bool bridge_is_ours(BridgeJob *job, uint32_t location) {
    SourceLocation l = SourceLocation::getFromRawEncoding(location);
    SourceManager &sm = job->ci->getSourceManager();
    while (l.isMacroID() && sm.isWrittenInScratchSpace(sm.getSpellingLoc(l)))
        l = sm.getImmediateExpansionRange(l).getBegin(); // pasted: by whom is seen where
    if (l.isInvalid()) return false;
    return isOurs(job, sm.getFileID(sm.getSpellingLoc(l)));
}

bool bridge_is_builtin(BridgeJob *job, const char *name) {
    return job->ci->getPreprocessor().getIdentifierInfo(name)->getBuiltinID() != 0;
}

// Looks at every pragma before its handler does. What is not taken never reaches one: some of them
// place code in sections, some end the compiler. (That of `mark` reads the file itself.)
struct PragmaGuard : PPCallbacks {
    BridgeJob &job;
    bool keepIgnored; // as text
    PragmaGuard(BridgeJob &j, bool keep) : job(j), keepIgnored(keep) {}
    void PragmaDirective(SourceLocation at, PragmaIntroducerKind) override {
        if (bridge_is_ours(&job, at.getRawEncoding())) return;
        Preprocessor &pp = job.ci->getPreprocessor();
        DiagnosticsEngine &de = pp.getDiagnostics();
        std::vector<Token> line;
        bool quiet = de.getSuppressAllDiagnostics();
        de.setSuppressAllDiagnostics(true); // `#pragma mark don't`
        do pp.LexUnexpandedToken(line.emplace_back());
        while (line.back().isNot(tok::eod) && line.back().isNot(tok::eof));
        de.setSuppressAllDiagnostics(quiet);
        std::string first = word(pp, line, 0), next = word(pp, line, 1);
        BridgePragma how = job.client->pragma(first.c_str(), next.c_str());
        if (how == BRIDGE_PRAGMA_REFUSE)
            bridge_report(&job, 3, at.getRawEncoding(),
                          ("'#pragma " + first + (next.empty() ? "" : " ") + next +
                           "' is not supported in Metal")
                              .c_str());
        bool keep = how == BRIDGE_PRAGMA_TAKE ||
                    (how == BRIDGE_PRAGMA_IGNORE && keepIgnored && first != "mark");
        if (!keep) line.erase(line.begin(), line.end() - 1);
        auto again = std::make_unique<Token[]>(line.size());
        std::copy(line.begin(), line.end(), again.get());
        pp.EnterTokenStream(std::move(again), line.size(), /*DisableMacroExpansion=*/false,
                            /*IsReinject=*/true);
    }
    // Metal has no #embed. Of a file that is not there Clang does not say where that stands, and
    // whoever lists the files read makes it a silent nothing.
    void refuseEmbed(SourceLocation at) {
        bridge_report(&job, 3, at.getRawEncoding(), "'#embed' is not supported in Metal");
    }
    void EmbedDirective(SourceLocation at, StringRef, bool, OptionalFileEntryRef,
                        const LexEmbedParametersResult &) override {
        refuseEmbed(at);
    }
    bool EmbedFileNotFound(StringRef) override { // the line is read: what follows is its end
        auto *lexer = static_cast<Lexer *>(job.ci->getPreprocessor().getCurrentFileLexer());
        refuseEmbed(lexer->getSourceLocation().getLocWithOffset(-1));
        return true;
    }
    static std::string word(Preprocessor &pp, const std::vector<Token> &line, size_t i) {
        return i < line.size() && line[i].getIdentifierInfo() ? pp.getSpelling(line[i]) : "";
    }
};

// #pragma METAL fp math_mode(safe|relaxed|fast), contract(off|on|fast): Clang's own fp
// pragmas.
struct MetalPragma : PragmaHandler {
    MetalPragma() : PragmaHandler("METAL") {}
    void HandlePragma(Preprocessor &pp, PragmaIntroducer, Token &first) override {
        std::string words;
        Token t;
        for (pp.Lex(t); t.isNot(tok::eod); pp.Lex(t)) words += pp.getSpelling(t);
        const char *means = words == "fpmath_mode(safe)" ? "clang fp contract(on) reciprocal(off)"
                            : words == "fpmath_mode(relaxed)" || words == "fpmath_mode(fast)"
                                ? "clang fp contract(fast) reciprocal(on)"
                            : words == "fpcontract(off)"  ? "clang fp contract(off)"
                            : words == "fpcontract(on)"   ? "clang fp contract(on)"
                            : words == "fpcontract(fast)" ? "clang fp contract(fast)"
                                                          : nullptr;
        if (words == "internals:enable" || words == "internals:disable") return;
        if (!means) {
            auto id = pp.getDiagnostics().getCustomDiagID(DiagnosticsEngine::Warning,
                                                          "unknown pragma ignored");
            pp.Diag(first.getLocation(), id);
            return;
        }
        auto tokens = std::make_unique<Token[]>(4);
        for (int i = 0; i < 4; i++)
            tokens[i].startToken(), tokens[i].setLocation(first.getLocation()),
                tokens[i].setLength(1);
        tokens[0].setIdentifierInfo(pp.getIdentifierInfo("_Pragma"));
        tokens[0].setKind(tok::identifier);
        tokens[1].setKind(tok::l_paren);
        tokens[2].setKind(tok::string_literal);
        pp.CreateString("\"" + std::string(means) + "\"", tokens[2]);
        tokens[3].setKind(tok::r_paren);
        pp.EnterTokenStream(std::move(tokens), 4, /*DisableMacroExpansion=*/false,
                            /*IsReinject=*/false);
    }
};

// #pragma unroll full: Clang would take the word for an expression. Without it the pragma means
// the same. The annotation of a loop pragma is private to Clang's ParsePragma.cpp, this is it:
struct UnrollHint {
    Token pragma, option;
    ArrayRef<Token> words; // of the argument, and an eof
};
static void plainUnroll(const Token &t) {
    if (!t.is(tok::annot_pragma_loop_hint)) return;
    UnrollHint *hint = (UnrollHint *)t.getAnnotationValue();
    const IdentifierInfo *name = hint->pragma.getIdentifierInfo();
    if (!name || name->getName() != "unroll" || hint->words.empty()) return;
    const IdentifierInfo *word = hint->words[0].getIdentifierInfo();
    if (word && word->getName() == "full") hint->words = {};
}

// ---- Tokens: lex everything, let C edit it, parse what it returns ----
enum { MAX_TOKENS = 4 << 20 }; // a kernel library of 12,000 lines has 200,000

static void lexAll(BridgeJob &job, Preprocessor &pp, std::vector<Token> &tokens,
                   std::vector<MslToken> &plain) {
    for (;;) {
        Token t;
        pp.Lex(t);
        if (tokens.size() == MAX_TOKENS && !t.is(tok::eof)) {
            bridge_report(&job, 3, t.getLocation().getRawEncoding(), "the source is too large");
            tokens.clear(), plain.clear();
            t.startToken();
            t.setKind(tok::eof);
        }
        MslToken m = {};
        m.kind = t.getKind();
        m.location = t.getLocation().getRawEncoding();
        if (!t.isAnnotation()) {
            if (IdentifierInfo *ii = t.getIdentifierInfo())
                m.text = ii->getNameStart(), m.n_text = ii->getLength();
            else if (t.isLiteral() && t.getLiteralData())
                m.text = t.getLiteralData(), m.n_text = t.getLength();
        }
        plainUnroll(t);
        tokens.push_back(t);
        m.origin = tokens.size();
        plain.push_back(m);
        if (t.is(tok::eof)) return;
    }
}

static Token fromPlain(Preprocessor &pp, const MslToken &m, const std::vector<Token> &tokens) {
    if (m.origin) return tokens[m.origin - 1];
    Token t;
    t.startToken();
    t.setKind((tok::TokenKind)m.kind);
    t.setLength(1);
    if (m.kind == tok::string_literal) {
        std::string quoted = "\"";
        for (char c : StringRef(m.text, m.n_text)) {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c;
        }
        pp.CreateString(quoted + "\"", t);
    } else if (m.kind == tok::numeric_constant) {
        pp.CreateString(StringRef(m.text, m.n_text), t);
    } else if (m.text) {
        IdentifierInfo *ii = pp.getIdentifierInfo(StringRef(m.text, m.n_text));
        t.setIdentifierInfo(ii);
        t.setKind(ii->getTokenID());
        t.setLength(ii->getLength());
    }
    t.setLocation(SourceLocation::getFromRawEncoding(m.location));
    return t;
}

// ---- Reflection: entry points and function constants, found as they are parsed ----
static bool annotated(const Decl *d, std::initializer_list<const char *> names) {
    for (auto *a : d->specific_attrs<AnnotateAttr>())
        for (const char *n : names)
            if (a->getAnnotation() == n) return true;
    return false;
}

static bool isEntry(const Decl *f) {
    return annotated(f, {"msl.kernel", "msl.vertex", "msl.fragment", "msl.object", "msl.mesh"});
}

// Bound to a resource at program scope (bindings.c).
static bool isBinding(const Decl *v) {
    return annotated(v, {"msl.buffer", "msl.texture", "msl.sampler", "msl.threadgroup"});
}

static VarDecl *findVariable(BridgeJob *job, const char *name, const Decl *from) {
    Sema &sema = job->ci->getSema();
    LookupResult found(sema, &sema.Context.Idents.get(name), SourceLocation(),
                       Sema::LookupOrdinaryName);
    found.suppressDiagnostics();
    for (DeclContext *dc = const_cast<DeclContext *>(from->getDeclContext()); dc;
         dc = dc->getParent())
        if (sema.LookupQualifiedName(found, dc)) break;
    return found.isSingleResult() ? dyn_cast<VarDecl>(found.getFoundDecl()->getUnderlyingDecl())
                                  : nullptr;
}

// Address spaces Metal wants spelled out and Clang's dialect would supply.
struct SpaceChecker : RecursiveASTVisitor<SpaceChecker> {
    BridgeJob &job;
    explicit SpaceChecker(BridgeJob &j) : job(j) {}
    void report(const NamedDecl *d, const char *what) {
        bridge_report(&job, 3, d->getLocation().getRawEncoding(), what);
    }
    bool skip(const Decl *d) {
        return d->isImplicit() || d->getLocation().isInvalid() ||
               bridge_in_system(&job, d->getLocation().getRawEncoding());
    }
    void pointers(const NamedDecl *d, QualType t, const TypeSourceInfo *written) {
        if (written && written->getType()->getContainedAutoType()) return;
        for (; t->isPointerType() || t->isReferenceType(); t = t->getPointeeType()) {
            QualType to = t->getPointeeType();
            if (to->isDependentType() || to->isFunctionType() ||
                to.getAddressSpace() != LangAS::opencl_generic)
                continue;
            // A pointer, or an array of them, is referred to where it lies: in thread memory.
            if (t->isReferenceType() &&
                job.ci->getASTContext().getBaseElementType(to)->isPointerType())
                continue;
            report(d, t->isPointerType()
                          ? "pointer type must have explicit address space qualifier"
                          : "reference type must have explicit address space qualifier");
            return;
        }
    }
    // What the token pass made of `threadgroup T name;`: a reference to an allocation.
    static bool allocates(const VarDecl *v) {
        auto *type = v->getType()->getAs<ReferenceType>();
        return type && v->isLocalVarDecl() && v->hasInit() &&
               type->getPointeeType().getAddressSpace() == LangAS::opencl_local &&
               StringRef(type->getPointeeType().getUnqualifiedType().getAsString())
                   .contains("__tg_t_");
    }
    bool VisitVarDecl(VarDecl *v) {
        if (skip(v)) return true;
        if (allocates(v)) job.threadgroupVariables.push_back(v);
        if (v->hasGlobalStorage() && v->getType().getAddressSpace() == LangAS::opencl_global &&
            !v->isInvalidDecl() && !isBinding(v))
            report(v, v->isStaticLocal()
                          ? "static local variable must reside in constant address space"
                          : "program scope variable must reside in constant address space");
        if (!isa<ParmVarDecl>(v) || !annotated(v, {"msl.buffer"}))
            pointers(v, v->getType(), v->getTypeSourceInfo());
        return true;
    }
    // A temporary lies in thread memory: functions of objects elsewhere are not for it.
    void object(const Expr *object, const CXXMethodDecl *f, SourceLocation at) {
        if (!f || !object->isPRValue() || bridge_in_system(&job, at.getRawEncoding())) return;
        LangAS space = f->getMethodQualifiers().getAddressSpace();
        if (space == LangAS::opencl_global || space == LangAS::opencl_constant ||
            space == LangAS::opencl_local)
            bridge_report(&job, 3, at.getRawEncoding(),
                          "a temporary is in thread memory: the member function is for objects "
                          "of another address space");
    }
    bool VisitCXXMemberCallExpr(CXXMemberCallExpr *e) {
        auto *m = dyn_cast<MemberExpr>(e->getCallee()->IgnoreParens());
        if (m && !m->isArrow())
            object(m->getBase()->IgnoreParenImpCasts(), e->getMethodDecl(), m->getMemberLoc());
        return true;
    }
    bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *e) {
        auto *f = dyn_cast_or_null<CXXMethodDecl>(e->getDirectCallee());
        if (f) object(e->getArg(0)->IgnoreParenImpCasts(), f, e->getOperatorLoc());
        return true;
    }
    // Addresses of code are for nobody.
    bool VisitAddrLabelExpr(AddrLabelExpr *e) {
        bridge_report(&job, 3, e->getAmpAmpLoc().getRawEncoding(),
                      "the address of a label is not supported in Metal");
        return true;
    }
    bool VisitIndirectGotoStmt(IndirectGotoStmt *s) {
        bridge_report(&job, 3, s->getGotoLoc().getRawEncoding(),
                      "a goto to an address is not supported in Metal");
        return true;
    }
    bool VisitBlockExpr(BlockExpr *e) {
        bridge_report(&job, 3, e->getCaretLocation().getRawEncoding(),
                      "a block is not supported in Metal");
        return true;
    }
    bool VisitStmtExpr(StmtExpr *) { return job.statementsInExpressions = true; }
    bool VisitLambdaExpr(LambdaExpr *e) {
        job.statementsInExpressions = true;
        if (job.client->version < 32 && !bridge_in_system(&job, e->getBeginLoc().getRawEncoding()))
            bridge_report(&job, 3, e->getBeginLoc().getRawEncoding(),
                          "lambda expressions need Metal 3.2");
        return true;
    }
    // Braces may give a vector fewer components than it has. Apple's compiler takes it without
    // them, too.
    bool VisitCXXConstructExpr(CXXConstructExpr *e) {
        const FunctionDecl *f = e->getConstructor(), *t = f->getTemplateInstantiationPattern();
        if (!e->isListInitialization() && annotated(t ? t : f, {"msl.braces"}) &&
            !bridge_in_system(&job, e->getBeginLoc().getRawEncoding()))
            bridge_report(&job, 2, e->getBeginLoc().getRawEncoding(),
                          "too few components in the constructor of a vector: the others are 0");
        return true;
    }
    bool VisitFieldDecl(FieldDecl *f) {
        return skip(f) || (pointers(f, f->getType(), f->getTypeSourceInfo()), true);
    }
    bool VisitFunctionDecl(FunctionDecl *f) {
        if (!skip(f) && f->isVariadic()) report(f, "a variadic function is not supported in Metal");
        if (!skip(f) && isa<CXXMethodDecl>(f) && isEntry(f))
            report(f, "an entry point cannot be a member of a class");
        if (!skip(f) && !f->isDefaulted() && !isa<CXXConversionDecl>(f))
            pointers(f, f->getReturnType(), nullptr);
        return true;
    }
};

// SIMD-group functions on a path that leaves a loop run with the lanes that leave it there. Code
// knows nothing of such paths: behind `break` it is like any other code after the loop. So each way
// out of a loop that has calls of such functions becomes
//     if (__ingot_leave_break()) continue; break;
// and codegen/exits.c, which knows whether there is one on the path, decides what becomes of it.
struct ExitMarker {
    BridgeJob &job;
    ASTContext &ctx;
    llvm::DenseSet<const FunctionDecl *> done;
    explicit ExitMarker(BridgeJob &j) : job(j), ctx(j.ci->getASTContext()) {}

    // A call that is, or may lead to, a SIMD-group function.
    bool together(const Stmt *s) {
        if (!s) return false;
        if (auto *call = dyn_cast<CallExpr>(s)) {
            const FunctionDecl *f = call->getDirectCallee();
            if (!f || !bridge_in_system(&job, f->getLocation().getRawEncoding())) return true;
            StringRef name = f->getIdentifier() ? f->getName() : "";
            if (name.starts_with("simd_") || name.starts_with("quad_") || name == "dfdx" ||
                name == "dfdy" || name == "fwidth")
                return true;
        }
        for (const Stmt *child : s->children())
            if (together(child)) return true;
        return false;
    }
    Expr *ask(const char *name, SourceLocation at) {
        for (NamedDecl *d : ctx.getTranslationUnitDecl()->lookup(&ctx.Idents.get(name)))
            if (auto *f = dyn_cast<FunctionDecl>(d)) {
                auto *ref = DeclRefExpr::Create(ctx, NestedNameSpecifierLoc(), SourceLocation(), f,
                                                false, at, f->getType(), VK_LValue);
                auto *to = ImplicitCastExpr::Create(ctx, ctx.getPointerType(f->getType()),
                                                    CK_FunctionToPointerDecay, ref, nullptr,
                                                    VK_PRValue, FPOptionsOverride());
                return CallExpr::Create(ctx, to, {}, ctx.BoolTy, VK_PRValue, at,
                                        FPOptionsOverride());
            }
        return nullptr;
    }
    Stmt *mark(Stmt *exit) {
        SourceLocation at = exit->getBeginLoc();
        Expr *asked =
            ask(isa<BreakStmt>(exit) ? "__ingot_leave_break" : "__ingot_leave_return", at);
        if (!asked) return exit;
        Stmt *again = IfStmt::Create(ctx, at, IfStatementKind::Ordinary, nullptr, nullptr, asked,
                                     at, at, new (ctx) ContinueStmt(at));
        // What is evaluated at compile time has one lane.
        again = IfStmt::Create(ctx, at, IfStatementKind::ConstevalNegated, nullptr, nullptr,
                               nullptr, at, at, again);
        return CompoundStmt::Create(ctx, {again, exit}, FPOptionsOverride(), at, at);
    }
    struct Loop {
        const Stmt *stmt;
        int calls = -1; // whether it has such calls; asked when there is a way out of it
    };
    bool inLoop(Loop *loop) {
        if (loop && loop->calls < 0) loop->calls = together(loop->stmt);
        return loop && loop->calls;
    }
    // loop: the innermost; breaks: `break` leaves it.
    void walk(Stmt *s, Loop *loop, bool breaks) {
        if (auto *lambda = dyn_cast<LambdaExpr>(s)) {
            if (!lambda->isGenericLambda()) walk(lambda->getBody(), nullptr, false);
            return;
        }
        if (isa<Expr>(s) && !job.statementsInExpressions) return;
        for (Stmt *&child : s->children()) {
            if (!child) continue;
            if (isa<WhileStmt, DoStmt, ForStmt, CXXForRangeStmt>(child)) {
                Loop inner = {child};
                walk(child, &inner, true);
            } else {
                walk(child, loop, breaks && !isa<SwitchStmt>(child));
            }
            if (((breaks && isa<BreakStmt>(child)) || isa<ReturnStmt>(child)) && inLoop(loop))
                child = mark(child);
        }
    }
    void declaration(Decl *d) {
        if (auto *f = dyn_cast<FunctionDecl>(d)) {
            if (f->isThisDeclarationADefinition() && !f->isDependentContext() && f->hasBody() &&
                done.insert(f).second)
                walk(f->getBody(), nullptr, false);
        } else if (auto *r = dyn_cast<CXXRecordDecl>(d)) {
            if (r->isDependentContext()) return;
            for (Decl *member : r->decls()) declaration(member);
        } else if (isa<NamespaceDecl>(d) || isa<LinkageSpecDecl>(d)) {
            for (Decl *x : cast<DeclContext>(d)->decls()) declaration(x);
        }
    }
};

// Metal stores the elements of a vector. Ours are objects of a class, and Clang copies such an
// object whole, with what lies behind the third of three elements: `a = b` becomes `a.__set(b)`
// (vec_class.h). Copies of structures that hold one stay whole, as on a Mac.
struct VectorStores : RecursiveASTVisitor<VectorStores> {
    BridgeJob &job;
    explicit VectorStores(BridgeJob &j) : job(j) {}
    // The store of elements of the class that f assigns whole objects of; NULL: f does not.
    CXXMethodDecl *store(const CXXMethodDecl *f) {
        if (!f || !f->isTrivial() ||
            !(f->isCopyAssignmentOperator() || f->isMoveAssignmentOperator()))
            return nullptr;
        auto *vec = dyn_cast<ClassTemplateSpecializationDecl>(f->getParent());
        if (!vec || vec->getName() != "vec" || vec->getTemplateArgs().size() != 2 ||
            !bridge_in_system(&job, vec->getLocation().getRawEncoding()))
            return nullptr;
        const TemplateArgument &n = vec->getTemplateArgs()[1];
        if (n.getKind() != TemplateArgument::Integral || n.getAsIntegral() != 3) return nullptr;
        for (NamedDecl *d : vec->lookup(&job.ci->getASTContext().Idents.get("__set")))
            if (auto *m = dyn_cast<CXXMethodDecl>(d)) return m;
        return nullptr;
    }
    // Vectors that a program makes itself convert too, where Clang takes the bits as they are.
    bool VisitExplicitCastExpr(ExplicitCastExpr *e) {
        auto *to = e->getType()->getAs<ExtVectorType>(),
             *from = e->getSubExpr()->getType()->getAs<ExtVectorType>();
        if (e->getCastKind() != CK_BitCast || !to || !from ||
            to->getNumElements() != from->getNumElements() ||
            bridge_in_system(&job, e->getBeginLoc().getRawEncoding()))
            return true;
        bool real = to->getElementType()->isRealFloatingType(),
             was = from->getElementType()->isRealFloatingType();
        if (real != was) e->setCastKind(real ? CK_IntegralToFloating : CK_FloatingToIntegral);
        return true;
    }
    bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *e) {
        auto *cast = dyn_cast<ImplicitCastExpr>(e->getCallee());
        auto *ref = cast ? dyn_cast<DeclRefExpr>(cast->getSubExpr()) : nullptr;
        CXXMethodDecl *f =
            ref ? store(dyn_cast_or_null<CXXMethodDecl>(e->getDirectCallee())) : nullptr;
        if (!f) return true;
        job.ci->getSema().MarkFunctionReferenced(e->getOperatorLoc(), f);
        ref->setDecl(f), ref->setType(f->getType());
        cast->setType(job.ci->getASTContext().getPointerType(f->getType()));
        return true;
    }
};

struct Collector : ASTConsumer {
    BridgeJob &job;
    std::unique_ptr<ExitMarker> exits;
    explicit Collector(BridgeJob &j) : job(j) {}
    // After an error classes may be incomplete, and nothing is emitted anyway.
    void emit(GlobalDecl d) {
        if (job.generator && !job.ci->getDiagnostics().hasErrorOccurred())
            job.generator->GetAddrOfGlobal(d, false);
    }
    // A constant that only decides whether a parameter exists must still be emitted.
    void conditions(const Decl *f, const VarDecl *p) {
        for (auto *a : p->specific_attrs<AnnotateAttr>())
            if (a->getAnnotation() == "msl.function_constant" && a->args_size() == 1)
                if (auto *s = dyn_cast<StringLiteral>(
                        (*a->args_begin())->IgnoreParenCasts()->IgnoreImplicit()))
                    if (VarDecl *v = findVariable(&job, s->getString().str().c_str(), f))
                        emit(GlobalDecl(v));
    }
    void add(const Decl *d) {
        if (auto *f = dyn_cast<FunctionDecl>(d)) {
            if (!f->isDependentContext() && !f->getDescribedFunctionTemplate() &&
                f->isThisDeclarationADefinition() &&
                f->getTemplateSpecializationKind() != TSK_ImplicitInstantiation &&
                (isEntry(f) ||
                 annotated(f, {"msl.visible", "msl.stitchable", "msl.intersection"}))) {
                if (!job.numbers.count(f)) job.functions.push_back(f);
                emit(GlobalDecl(f)); // also where it is inline or static and nothing refers to it
                for (const ParmVarDecl *p : f->parameters()) conditions(f, p);
            }
        } else if (auto *v = dyn_cast<VarDecl>(d)) {
            if (annotated(v, {"msl.function_constant"}) || isBinding(v)) job.variables.push_back(v);
            if (isBinding(v)) conditions(v, v);
        } else if (isa<NamespaceDecl>(d) || isa<LinkageSpecDecl>(d)) {
            for (const Decl *x : cast<DeclContext>(d)->decls()) add(x);
        }
    }
    // Clang puts off what is made of a template whose text it is yet to parse: for a kernel, which
    // nothing calls, that may always be said.
    void hold(const Decl *d) {
        auto *t = dyn_cast<FunctionTemplateDecl>(d);
        FunctionDecl *f = t ? t->getTemplatedDecl() : nullptr;
        if (!f || !f->isThisDeclarationADefinition() || !isEntry(f) || f->isConstexpr() ||
            f->getReturnType()->isUndeducedType() || f->isLateTemplateParsed())
            return;
        f->setLateTemplateParsed(true);
        job.held.push_back(f);
    }
    void HandleInterestingDecl(DeclGroupRef) override {} // from our headers
    bool HandleTopLevelDecl(DeclGroupRef group) override {
        for (Decl *d : group) {
            auto *f = dyn_cast<FunctionDecl>(d);
            if (!f || !f->isTemplateInstantiation()) SpaceChecker(job).TraverseDecl(d);
            if (!exits) exits = std::make_unique<ExitMarker>(job);
            if (!job.ci->getDiagnostics().hasErrorOccurred()) {
                VectorStores(job).TraverseDecl(d);
                exits->declaration(d);
            }
            add(d);
            hold(d);
        }
        return true;
    }
};

struct Reflector {
    BridgeJob &job;
    ASTContext &ctx;
    ASTNameGenerator names;
    llvm::DenseMap<const void *, uint32_t> known;
    explicit Reflector(BridgeJob &j) : job(j), ctx(j.ci->getASTContext()), names(ctx) {}

    // E of `__builtin_constant_p(E) ? (E) : -1` (token_attrs.c) if it is no constant.
    const Expr *unplaced(const Expr *e) {
        auto *c = dyn_cast<ConditionalOperator>(e->IgnoreParenImpCasts());
        Expr::EvalResult r;
        if (!c || !isa<CallExpr>(c->getCond()->IgnoreParenImpCasts()) || e->isValueDependent() ||
            c->getTrueExpr()->EvaluateAsInt(r, ctx))
            return nullptr;
        return c->getTrueExpr();
    }
    // An expression of one function constant as scale * it + value.
    template <class Arg> bool linear(const Expr *e, Arg &out) {
        e = e->IgnoreParenCasts();
        Expr::EvalResult r;
        if (e->EvaluateAsInt(r, ctx)) {
            out.value = r.Val.getInt().getExtValue();
            return true;
        }
        if (auto *ref = dyn_cast<DeclRefExpr>(e)) {
            auto *v = dyn_cast<VarDecl>(ref->getDecl());
            if (v && annotated(v, {"msl.function_constant"})) {
                if (!v->getType()->isIntegerType() || v->getType()->isBooleanType()) return false;
                out.constant = job.keep(names.getName(v));
                out.scale = 1, out.value = 0;
                return true;
            }
            return v && v->getAnyInitializer() && linear(v->getAnyInitializer(), out);
        }
        auto *op = dyn_cast<BinaryOperator>(e);
        Arg l = {}, r2 = {};
        if (!op || !linear(op->getLHS(), l) || !linear(op->getRHS(), r2)) return false;
        bool minus = op->getOpcode() == BO_Sub;
        if (op->getOpcode() == BO_Mul && !(l.constant && r2.constant)) {
            out.constant = l.constant ? l.constant : r2.constant;
            out.scale = l.scale * r2.value + r2.scale * l.value;
            out.value = l.value * r2.value;
            return true;
        }
        if ((!minus && op->getOpcode() != BO_Add) || (l.constant && r2.constant)) return false;
        out.constant = l.constant ? l.constant : r2.constant;
        out.scale = l.scale + (minus ? -r2.scale : r2.scale);
        out.value = l.value + (minus ? -r2.value : r2.value);
        return true;
    }

    void attributes(const Decl *d, std::vector<BridgeAttr> &out) {
        for (auto *a : d->specific_attrs<AnnotateAttr>()) {
            StringRef name = a->getAnnotation();
            if (!name.consume_front("msl.")) continue;
            BridgeAttr b = {};
            b.name = job.keep(name.str());
            b.location = a->getLocation().getRawEncoding();
            for (Expr *e : a->args()) {
                if (b.n_args == 4) break;
                auto &arg = b.args[b.n_args++];
                arg.type = UINT32_MAX;
                if (auto *c = dyn_cast<ConstantExpr>(e)) e = c->getSubExpr();
                Expr::EvalResult r;
                if (auto *s = dyn_cast<StringLiteral>(e->IgnoreParenCasts()))
                    arg.is_string = true, arg.text = job.keep(s->getString().str());
                else if (QualType t = e->getType()->getPointeeType();
                         !t.isNull() && t->isRecordType() &&
                         job.ci->getSema().isCompleteType(a->getLocation(), t))
                    arg.type = type(t);
                else if (const Expr *given = unplaced(e); given && linear(given, arg))
                    ;
                else if (!e->isValueDependent() && e->EvaluateAsInt(r, ctx))
                    arg.value = r.Val.getInt().getExtValue();
                else
                    arg.value = -1;
            }
            out.push_back(b);
        }
    }
    BridgeDecl decl(const NamedDecl *d, QualType t, std::vector<BridgeAttr> &attrs) {
        BridgeDecl b = {};
        b.name = job.keep(d->getQualifiedNameAsString());
        b.symbol = "";
        b.type = type(t);
        b.location = d->getLocation().getRawEncoding();
        attributes(d, attrs);
        b.attrs = attrs.data(), b.n_attrs = attrs.size();
        return b;
    }
    static BridgeSpace space(QualType t) {
        switch (t.getAddressSpace()) {
        case LangAS::opencl_global: return BRIDGE_SPACE_DEVICE;
        case LangAS::opencl_constant: return BRIDGE_SPACE_CONSTANT;
        case LangAS::opencl_local: return BRIDGE_SPACE_THREADGROUP;
        case LangAS::opencl_private: return BRIDGE_SPACE_THREAD;
        default: return BRIDGE_SPACE_NONE;
        }
    }
    void argument(const TemplateArgument &a, BridgeType &b);
    void record(const CXXRecordDecl *r, BridgeType &b, std::vector<BridgeDecl> &members,
                std::deque<std::vector<BridgeAttr>> &attrs);
    uint32_t type(QualType q);
    const char *signature(QualType function);
    void function(const FunctionDecl *f);
};

// Function types are compared by the symbol of the headers' table lookup for them.
const char *Reflector::signature(QualType q) {
    Sema &sema = job.ci->getSema();
    LookupResult found(sema, &ctx.Idents.get("__ingot_table_entry"), SourceLocation(),
                       Sema::LookupOrdinaryName);
    found.suppressDiagnostics();
    if (!sema.LookupQualifiedName(found, ctx.getTranslationUnitDecl())) return "";
    auto *entry = dyn_cast<FunctionTemplateDecl>(found.getRepresentativeDecl());
    if (!entry) return "";
    q = ctx.getFunctionTypeWithExceptionSpec(ctx.getCanonicalType(q), EST_None);
    TemplateArgument arg(ctx.getCanonicalType(q));
    auto *list = TemplateArgumentList::CreateCopy(ctx, {arg});
    FunctionDecl *f = sema.InstantiateFunctionDeclaration(entry, list, entry->getLocation());
    return f ? job.keep(names.getName(f)) : "";
}

void Reflector::argument(const TemplateArgument &a, BridgeType &b) {
    if (b.n_args == BRIDGE_MAX_ARGS) return;
    bool is_type = a.getKind() == TemplateArgument::Type;
    if (is_type && b.n_args == 0) {
        QualType q = ctx.getCanonicalType(a.getAsType());
        b.space = space(q), b.is_const = q.isConstQualified();
    }
    b.arg_types[b.n_args] = is_type ? type(a.getAsType()) : UINT32_MAX;
    int64_t value = 0;
    if (a.getKind() == TemplateArgument::Integral) // the greatest size_t is -1: a dynamic extent
        value = a.getAsIntegral().tryExtValue().value_or(-1);
    b.arg_values[b.n_args++] = value;
}

void Reflector::record(const CXXRecordDecl *r, BridgeType &b, std::vector<BridgeDecl> &members,
                       std::deque<std::vector<BridgeAttr>> &attrs) {
    b.kind = BRIDGE_TYPE_RECORD;
    auto *ns = dyn_cast<NamespaceDecl>(r->getDeclContext()->getEnclosingNamespaceContext());
    bool handle =
        ns && ns->getName() == "raytracing" &&
        (r->getName() == "acceleration_structure" || r->getName() == "intersection_function_table");
    if (handle || (ns && (ns->getName() == "metal" || ns->getName().starts_with("__")) &&
                   ns->getParent()->isTranslationUnit())) {
        b.kind = BRIDGE_TYPE_METAL;
        b.template_name = job.keep(r->getNameAsString());
        if (auto *s = dyn_cast<ClassTemplateSpecializationDecl>(r))
            for (const TemplateArgument &a : s->getTemplateArgs().asArray()) {
                if (a.getKind() == TemplateArgument::Pack)
                    for (const TemplateArgument &p : a.pack_elements()) argument(p, b);
                else
                    argument(a, b);
            }
        return;
    }
    if (!r->hasDefinition() || r->isInvalidDecl()) return;
    const ASTRecordLayout &layout = ctx.getASTRecordLayout(r);
    for (const CXXBaseSpecifier &base : r->bases())
        if (const CXXRecordDecl *d = base.getType()->getAsCXXRecordDecl()) {
            BridgeDecl m = {};
            m.name = "", m.symbol = "", m.type = type(base.getType());
            m.offset = layout.getBaseClassOffset(d).getQuantity();
            members.push_back(m);
        }
    for (const FieldDecl *f : r->fields()) {
        BridgeDecl m = decl(f, f->getType(), attrs.emplace_back());
        m.name = job.keep(f->getNameAsString());
        m.offset = layout.getFieldOffset(f->getFieldIndex()) / 8;
        members.push_back(m);
    }
}

uint32_t Reflector::type(QualType q) {
    q = ctx.getCanonicalType(ctx.removeAddrSpaceQualType(ctx.getCanonicalType(q)))
            .getUnqualifiedType();
    auto [it, fresh] = known.insert({q.getAsOpaquePtr(), 0});
    if (!fresh) return it->second;
    const BridgeClient *c = job.client;
    uint32_t number = c->new_type(c->context);
    known[q.getAsOpaquePtr()] = number;
    BridgeType b = {};
    std::vector<BridgeDecl> members;
    std::deque<std::vector<BridgeAttr>> attrs;
    b.element = UINT32_MAX;
    b.name = job.keep(q.getAsString(ctx.getPrintingPolicy()));
    // A template that nobody has looked into is made only now.
    if (!q->isFunctionType() && !q->isDependentType() &&
        job.ci->getSema().isCompleteType(SourceLocation(), q))
        b.size = ctx.getTypeSizeInChars(q).getQuantity(),
        b.align = ctx.getTypeAlignInChars(q).getQuantity();
    QualType inner;
    if (q->isPointerType() || q->isReferenceType()) {
        b.kind = q->isPointerType() ? BRIDGE_TYPE_POINTER : BRIDGE_TYPE_REFERENCE;
        inner = q->getPointeeType();
        b.space = space(inner), b.is_const = inner.isConstQualified();
    } else if (const ConstantArrayType *a = ctx.getAsConstantArrayType(q)) {
        b.kind = BRIDGE_TYPE_ARRAY;
        inner = a->getElementType();
        b.n_elements = a->getSize().getZExtValue();
    } else if (const CXXRecordDecl *r = q->getAsCXXRecordDecl())
        record(r, b, members, attrs);
    else if (q->isVoidType())
        b.kind = BRIDGE_TYPE_VOID;
    else if (q->isBooleanType())
        b.kind = BRIDGE_TYPE_BOOL;
    else if (q->isIntegralOrEnumerationType())
        b.kind = BRIDGE_TYPE_INT, b.is_signed = q->isSignedIntegerOrEnumerationType();
    else if (q->isHalfType() || q->isFloat16Type())
        b.kind = BRIDGE_TYPE_HALF;
    else if (q->isBFloat16Type())
        b.kind = BRIDGE_TYPE_BFLOAT;
    else if (q->isSpecificBuiltinType(BuiltinType::Float))
        b.kind = BRIDGE_TYPE_FLOAT;
    if (!inner.isNull()) b.element = type(inner);
    b.members = members.data(), b.n_members = members.size();
    c->set_type(c->context, number, &b);
    return number;
}

void Reflector::function(const FunctionDecl *f) {
    job.current = f;
    std::deque<std::vector<BridgeAttr>> attrs;
    std::vector<BridgeDecl> params;
    BridgeFunction b = {};
    b.decl = decl(f, f->getReturnType(), attrs.emplace_back());
    b.decl.symbol = job.keep(names.getName(f));
    b.defined = job.makes(f);
    b.signature = annotated(f, {"msl.visible", "msl.stitchable"}) ? signature(f->getType()) : "";
    if (f->isTemplateInstantiation() || f->getPrimaryTemplate()) {
        std::string name;
        llvm::raw_string_ostream os(name);
        f->getNameForDiagnostic(os, ctx.getPrintingPolicy(), true);
        b.decl.name = job.keep(name);
    }
    for (const ParmVarDecl *p : f->parameters()) {
        // An array of pointers or textures is many arguments; any other array is the pointer it
        // decays to.
        QualType type = p->getOriginalType();
        const ArrayType *array = ctx.getAsArrayType(type);
        if (array && !array->getElementType()->isPointerType() &&
            !array->getElementType()->isRecordType())
            type = p->getType();
        BridgeDecl d = decl(p, type, attrs.emplace_back());
        d.name = job.keep(p->getNameAsString());
        params.push_back(d);
    }
    b.params = params.data(), b.n_params = params.size();
    job.client->function(job.client->context, &job, &b);
    job.current = nullptr;
}

// Threadgroup memory belongs to entry points: a variable in it stands in one.
static void checkThreadgroupVariables(BridgeJob &job) {
    for (const VarDecl *v : job.threadgroupVariables) {
        const DeclContext *outer = v->getDeclContext();
        const FunctionDecl *f = nullptr;
        for (; outer; outer = outer->getParent())
            if (auto *function = dyn_cast<FunctionDecl>(outer)) f = function;
        bool entry = !f;
        for (const FunctionDecl *e : job.functions)
            entry |= e == f || e->getTemplateInstantiationPattern() == f;
        // A template that nobody has instantiated, or that another entry point will be made of.
        entry |= f && isEntry(f);
        if (!entry || (f && annotated(f, {"msl.vertex", "msl.intersection"})))
            bridge_report(&job, 3, v->getLocation().getRawEncoding(),
                          "variables in the threadgroup address space are declared in kernel, "
                          "fragment, object and mesh functions only");
    }
}

static void reflect(BridgeJob &job) {
    checkThreadgroupVariables(job);
    Reflector r(job);
    for (const VarDecl *v : job.variables) {
        std::vector<BridgeAttr> attrs;
        BridgeDecl d = r.decl(v, v->getType(), attrs);
        d.symbol = job.keep(r.names.getName(v));
        job.current = v;
        job.client->variable(job.client->context, &job, &d);
        job.current = nullptr;
    }
    for (const FunctionDecl *f : job.functions) r.function(f);
}

char *bridge_find_variable(BridgeJob *job, const char *name) {
    const VarDecl *v = job->current ? findVariable(job, name, job->current) : nullptr;
    return v ? strdup(ASTNameGenerator(job->ci->getASTContext()).getName(v).c_str()) : nullptr;
}

uint32_t bridge_function_location(BridgeJob *job, const char *symbol, char **name) {
    const Decl *d = job->generator ? job->generator->GetDeclForMangledName(symbol) : nullptr;
    auto *f = dyn_cast_or_null<FunctionDecl>(d);
    if (name) *name = f ? strdup(f->getNameAsString().c_str()) : nullptr;
    return f ? f->getLocation().getRawEncoding() : 0;
}

bool bridge_function_is_extern(BridgeJob *job, const char *symbol) {
    const Decl *d = job->generator ? job->generator->GetDeclForMangledName(symbol) : nullptr;
    auto *f = dyn_cast_or_null<FunctionDecl>(d);
    if (f)
        for (const FunctionDecl *r : f->redecls())
            if (r->getStorageClass() == SC_Extern ||
                annotated(r, {"msl.visible", "msl.stitchable"}))
                return true;
    return false;
}

char *msl_demangle(const char *symbol) { return strdup(llvm::demangle(symbol).c_str()); }

// ---- The action: Clang's own, with our tokens and names ----
static const char *const openclKeywords[] = {"local",           "global",
                                             "generic",         "constant",
                                             "kernel",          "pipe",
                                             "read_only",       "write_only",
                                             "read_write",      "vec_step",
                                             "uniform",         "channel",
                                             "image1d_t",       "image2d_t",
                                             "image3d_t",       "image1d_array_t",
                                             "image2d_array_t", "image1d_buffer_t",
                                             "image2d_depth_t", "image2d_array_depth_t",
                                             "image2d_msaa_t"};
static const char *const openclTypedefs[] = {
    "atomic_int",       "atomic_uint", "atomic_long",   "atomic_ulong",    "atomic_float",
    "atomic_double",    "atomic_flag", "atomic_size_t", "atomic_intptr_t", "atomic_uintptr_t",
    "atomic_ptrdiff_t", "atomic_half", "reserve_id_t",  "sampler_t",       "event_t",
    "queue_t",          "clk_event_t", "ndrange_t"};

template <class Base> struct Action : Base {
    BridgeJob &job;
    llvm::LLVMContext context;
    size_t noted = 0; // of the kernels to be made of templates
    explicit Action(BridgeJob &j) : job(j) {}
    static constexpr bool compiles = std::is_same<Base, ASTFrontendAction>::value;

    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &ci, StringRef file) override {
        if constexpr (!compiles)
            return Base::CreateASTConsumer(ci, file);
        else {
            auto generator = CreateLLVMCodeGen(ci, file, context);
            job.generator = generator.get();
            std::vector<std::unique_ptr<ASTConsumer>> both;
            both.push_back(std::make_unique<Collector>(job));
            both.push_back(std::move(generator));
            return std::make_unique<MultiplexConsumer>(std::move(both));
        }
    }
    bool BeginSourceFileAction(CompilerInstance &ci) override {
        for (const char *k : openclKeywords) {
            IdentifierInfo *ii = ci.getPreprocessor().getIdentifierInfo(k);
            if (ii->getTokenID() != tok::identifier) ii->revertTokenIDToIdentifier();
        }
        ci.getPreprocessor().AddPragmaHandler(new MetalPragma);
        ci.getPreprocessor().addPPCallbacks(std::make_unique<PragmaGuard>(job, false));
        return Base::BeginSourceFileAction(ci);
    }
    void dropTypedefs(Sema &s) {
        for (const char *name : openclTypedefs) {
            std::vector<NamedDecl *> drop;
            for (auto i = s.IdResolver.begin(&s.PP.getIdentifierTable().get(name));
                 i != s.IdResolver.end(); ++i)
                if (isa<TypedefDecl>(*i) && (*i)->getLocation().isInvalid()) drop.push_back(*i);
            for (NamedDecl *d : drop) {
                s.IdResolver.RemoveDecl(d);
                s.TUScope->RemoveDecl(d);
                if (!d->isFromASTFile()) s.Context.getTranslationUnitDecl()->removeDecl(d);
            }
        }
    }
    bool inVain() const { return job.client->in_vain && job.client->in_vain(job.client->context); }
    // Kernels to be made of templates, in the order of the source.
    void note(Sema &s) {
        for (; noted < s.LateParsedInstantiations.size(); noted++) {
            auto *f = cast<FunctionDecl>(s.LateParsedInstantiations[noted].first);
            if (job.numbers.insert({f, noted}).second) job.functions.push_back(f);
        }
    }
    // Now they are made, each where the work was not divided.
    void makeKernels(Sema &s) {
        SmallVector<Sema::PendingImplicitInstantiation, 1> kernels;
        for (FunctionDecl *f : job.held) f->setLateTemplateParsed(false);
        kernels.swap(s.LateParsedInstantiations);
        if (kernels.empty()) return;
        if (job.client->divide && !job.ci->getDiagnostics().hasErrorOccurred())
            job.share = job.client->divide(job.client->context, kernels.size());
        // One of each template first: what must be repaired is found soon.
        std::deque<Sema::PendingImplicitInstantiation> others;
        llvm::DenseSet<const void *> begun;
        for (size_t i = job.share.from; i < kernels.size() && i < job.share.to; i++) {
            const void *of = cast<FunctionDecl>(kernels[i].first)->getPrimaryTemplate();
            (begun.insert(of).second ? s.PendingInstantiations : others).push_back(kernels[i]);
        }
        instantiate(s);
        s.PendingInstantiations.swap(others);
        instantiate(s);
    }
    // What Clang does at the end of the source, one template at a time.
    void instantiate(Sema &s) {
        std::deque<Sema::PendingImplicitInstantiation> left;
        for (left.swap(s.PendingInstantiations); !left.empty() && !inVain(); left.pop_front()) {
            s.PendingInstantiations.push_back(left.front());
            s.PerformPendingInstantiations();
        }
    }
    // Nothing more will be said, or as many declarations are wrong as there may be errors: of some
    // (a function that is there already) Clang tells the first only, and compares each with all.
    static constexpr unsigned maxWrong = 200; // as -ferror-limit (options.c)
    unsigned n_wrong = 0;
    bool isHopeless(Sema &s, DeclGroupRef group) {
        DiagnosticsEngine &diagnostics = s.getDiagnostics();
        for (const Decl *d : group) n_wrong += d->isInvalidDecl();
        if (n_wrong > maxWrong && !diagnostics.hasFatalErrorOccurred())
            diagnostics.Report(diag::fatal_too_many_errors);
        return diagnostics.hasFatalErrorOccurred();
    }
    void parse(Parser &p, Sema &s, ASTConsumer &consumer) {
        Parser::DeclGroupPtrTy group;
        Sema::ModuleImportState imports = Sema::ModuleImportState::NotACXX20Module;
        EnterExpressionEvaluationContext evaluated(
            s, Sema::ExpressionEvaluationContext::PotentiallyEvaluated);
        for (bool eof = p.ParseFirstTopLevelDecl(group, imports); !eof;
             eof = p.ParseTopLevelDecl(group, imports)) {
            if (group && !consumer.HandleTopLevelDecl(group.get())) return;
            if (isHopeless(s, group ? group.get() : DeclGroupRef())) break;
            while (inVain() && p.getCurToken().is(tok::kw_template) &&
                   s.PP.LookAhead(0).isNot(tok::less))
                p.SkipUntil(tok::semi);
            note(s);
            if (p.getCurToken().is(tok::eof)) instantiate(s), makeKernels(s);
        }
    }
    void ExecuteAction() override {
        CompilerInstance &ci = this->getCompilerInstance();
        if (!ci.hasSema()) ci.createSema(this->getTranslationUnitKind(), nullptr);
        Sema &s = ci.getSema();
        ASTConsumer &consumer = s.getASTConsumer();
        Parser parser(s.PP, s, false);
        s.PP.EnterMainSourceFile();
        if (ExternalASTSource *x = s.Context.getExternalSource())
            x->StartTranslationUnit(&consumer);
        // Clang's dialect has these built in; in Metal they are names like others.
        for (const char *name :
             {"to_global", "to_local", "to_private", "read_pipe", "write_pipe", "enqueue_kernel"})
            if (IdentifierInfo *ii = s.PP.getIdentifierInfo(name); ii->getBuiltinID())
                ii->clearBuiltinID();
        std::vector<Token> tokens;
        std::vector<MslToken> plain;
        lexAll(job, s.PP, tokens, plain);
        size_t n = 0;
        const MslToken *edited =
            job.client->tokens(job.client->context, &job, plain.data(), plain.size(), &n);
        if (!edited) return;
        auto stream = std::make_unique<Token[]>(n);
        for (size_t i = 0; i < n; i++) stream[i] = fromPlain(s.PP, edited[i], tokens);
        s.PP.EnterTokenStream(std::move(stream), n, /*DisableMacroExpansion=*/true,
                              /*IsReinject=*/false);
        parser.Initialize();
        dropTypedefs(s);
        parse(parser, s, consumer);
        if (!compiles) { // checks on the headers: done, and in the image Clang would read them for
                         // every source
            s.DelegatingCtorDecls.erase(s.DelegatingCtorDecls.begin(nullptr, true),
                                        s.DelegatingCtorDecls.end());
            s.UnusedLocalTypedefNameCandidates.clear();
        }
        for (Decl *d : s.WeakTopLevelDecls()) consumer.HandleTopLevelDecl(DeclGroupRef(d));
        consumer.HandleTranslationUnit(s.Context);
        if (!compiles || ci.getDiagnostics().hasErrorOccurred()) return;
        reflect(job);
        if (ci.getDiagnostics().hasErrorOccurred() || !job.generator->GetModule()) return;
        llvm::Module *m = job.generator->GetModule();
        m->setTargetTriple(llvm::Triple("x86_64-unknown-linux-gnu"));
        job.client->module(job.client->context, &job, llvm::wrap(m));
    }
};

// -E: what the preprocessor leaves, with pragmas as they are. Those of the headers whose macros are
// read first would be printed too: one of ours behind these headers says where the rest begins.
struct Preprocess : PreprocessorFrontendAction {
    BridgeJob &job;
    explicit Preprocess(BridgeJob &j) : job(j) {}
    void ExecuteAction() override {
        CompilerInstance &ci = getCompilerInstance();
        ci.getPreprocessor().addPPCallbacks(std::make_unique<PragmaGuard>(job, true));
        static const char mark[] = "__ingot_source_begins_here";
        std::string out, first = ci.getPreprocessor().getPredefines();
        llvm::raw_string_ostream os(out);
        size_t headers = first.find("#__include_macros");
        size_t line = headers == std::string::npos ? headers : first.find('\n', headers);
        if (line != std::string::npos)
            first.insert(line + 1, "#pragma " + std::string(mark) + "\n");
        ci.getPreprocessor().setPredefines(first);
        DoPrintPreprocessedInput(ci.getPreprocessor(), &os, ci.getPreprocessorOutputOpts());
        size_t at = os.str().find(mark),
               from = at == std::string::npos ? 0 : out.find('\n', at) + 1;
        std::string text = whereItLies(job.client, out.substr(from));
        job.client->text(job.client->context, text.data(), text.size());
    }
};

struct Files : DependencyCollector {
    const BridgeClient *client;
    explicit Files(const BridgeClient *c) : client(c) {}
    bool sawDependency(StringRef path, bool, bool system, bool, bool missing) override {
        if (!missing && path != "<built-in>")
            client->file(client->context, path.str().c_str(), system);
        return false;
    }
};

// The files that Clang sees beside those in memory: our own headers and their image as they lie,
// everything else as the client has it. No path leads around this: #include, #embed and questions
// whether a file is there all come here.
struct LentFile : llvm::vfs::File {
    llvm::vfs::Status about;
    StringRef text;
    LentFile(llvm::vfs::Status s, StringRef t) : about(std::move(s)), text(t) {}
    llvm::ErrorOr<llvm::vfs::Status> status() override { return about; }
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine &name, int64_t,
                                                                 bool, bool) override {
        llvm::SmallString<256> path;
        return llvm::MemoryBuffer::getMemBuffer(text, name.toStringRef(path));
    }
    std::error_code close() override { return {}; }
};

struct LentFiles : llvm::vfs::ProxyFileSystem {
    const BridgeClient *client;
    LentFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> real, const BridgeClient *c)
        : ProxyFileSystem(std::move(real)), client(c) {}
    bool isOpen(const std::string &path) const {
        StringRef image = client->image ? client->image : "";
        return path == image ||
               path == llvm::sys::path::parent_path(image); // Clang looks for folders first
    }
    // The path of a header of ours; empty: of something else.
    std::string header(StringRef path) const {
        if (!client->stdlib || !path.starts_with(BRIDGE_STDLIB)) return "";
        llvm::SmallString<256> plain(path);
        llvm::sys::path::remove_dots(plain, /*remove_dot_dot=*/true);
        if (plain != BRIDGE_STDLIB && !isUnder(BRIDGE_STDLIB, plain)) return "";
        return client->stdlib + plain.str().drop_front(sizeof BRIDGE_STDLIB - 1).str();
    }
    llvm::ErrorOr<std::unique_ptr<LentFile>> find(const std::string &path) {
        BridgeLent lent = {};
        if (path == ".")
            lent.found = lent.is_folder = true; // Clang relies on it
        else if (client->find && !StringRef(path).starts_with("/memory/"))
            lent = client->find(client->context, path.c_str());
        if (!lent.found) return std::errc::no_such_file_or_directory;
        llvm::vfs::Status about(path, llvm::sys::fs::UniqueID(UINT64_MAX, lent.id), {}, 0, 0,
                                lent.n_bytes,
                                lent.is_folder ? llvm::sys::fs::file_type::directory_file
                                               : llvm::sys::fs::file_type::regular_file,
                                llvm::sys::fs::perms::owner_read);
        return std::make_unique<LentFile>(about, StringRef(lent.text, lent.n_bytes));
    }
    llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &name) override {
        std::string path = name.str(), ours = header(path);
        if (!ours.empty()) {
            auto about = ProxyFileSystem::status(ours);
            if (!about) return about.getError();
            return llvm::vfs::Status::copyWithNewName(*about, name);
        }
        if (isOpen(path)) return ProxyFileSystem::status(name);
        auto file = find(path);
        if (!file) return file.getError();
        return (*file)->about;
    }
    llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
        const llvm::Twine &name) override {
        std::string path = name.str(), ours = header(path);
        if (!ours.empty())
            return llvm::vfs::File::getWithPath(ProxyFileSystem::openFileForRead(ours), name);
        if (isOpen(path)) return ProxyFileSystem::openFileForRead(name);
        auto file = find(path);
        if (!file) return file.getError();
        if ((*file)->about.isDirectory()) return std::errc::is_a_directory;
        return std::unique_ptr<llvm::vfs::File>(std::move(*file));
    }
    llvm::vfs::directory_iterator dir_begin(const llvm::Twine &, std::error_code &e) override {
        e = std::make_error_code(std::errc::no_such_file_or_directory);
        return {};
    }
    std::error_code getRealPath(const llvm::Twine &name,
                                llvm::SmallVectorImpl<char> &out) override {
        if (!header(name.str()).empty()) return name.toVector(out), std::error_code();
        if (isOpen(name.str())) return ProxyFileSystem::getRealPath(name, out);
        return std::make_error_code(std::errc::operation_not_permitted);
    }
    bool exists(const llvm::Twine &name) override { return bool(status(name)); }
};

static bool runAction(FrontendAction &action, CompilerInstance &ci) {
    for (const FrontendInputFile &f : ci.getFrontendOpts().Inputs)
        if (action.BeginSourceFile(ci, f)) {
            if (llvm::Error e = action.Execute()) return llvm::consumeError(std::move(e)), false;
            action.EndSourceFile();
        }
    return !ci.getDiagnostics().hasErrorOccurred();
}

static void dialect(LangOptions &l, CodeGenOptions &g, bool fast) {
    l.CPlusPlus20 = l.CPlusPlus23 = 1;
    l.Half = l.NativeHalfType = l.NativeHalfArgsAndReturns = 1;
    l.Bool = l.OpenCLGenericAddressSpace = 1;
    l.SizedDeallocation = l.AlignedAllocation = 0;
    l.PreserveVec3Type = 1; // a store of three elements leaves alone what lies in place of a fourth
    // Fast and relaxed: contraction, approximate functions, reciprocals, no signed zeros. NaN and
    // infinities are kept, and nothing is reassociated, so that results do not depend on vector
    // width (dots.c puts some sums in another order before there are vectors). Safe: a product and
    // a sum of one expression still become one instruction, as on a Mac; a program that minds says
    // so by a pragma.
    l.ApproxFunc = l.AllowRecip = l.NoSignedZero = fast;
    l.setDefaultFPContractMode(fast ? LangOptions::FPM_Fast : LangOptions::FPM_On);
}

static void (*onNoMemory)(void);

void bridge_on_no_memory(void (*then)(void)) {
    if (!onNoMemory)
        llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { onNoMemory(); });
    onNoMemory = then;
}

bool bridge_run(BridgeMode mode, const char *const *args, size_t n_args, const BridgeFile *files,
                size_t n_files, bool fast_math, const BridgeClient *client) {
    noteBottomOfStack();
    llvm::install_out_of_memory_new_handler(); // the process dies with "out of memory" on its lips
    BridgeJob job;
    job.client = client;
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    auto real = llvm::vfs::getRealFileSystem();
    auto fs = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
        llvm::makeIntrusiveRefCnt<LentFiles>(real, client));
    if (auto cwd = real->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*cwd);
    for (size_t i = 0; i < n_files; i++)
        memory->addFile(files[i].path, 0,
                        llvm::MemoryBuffer::getMemBufferCopy(
                            StringRef(files[i].text, files[i].n_bytes), files[i].path));
    fs->pushOverlay(memory);
    auto invocation = std::make_shared<CompilerInvocation>();
    DiagnosticOptions options;
    auto early = CompilerInstance::createDiagnostics(*fs, options, &job, false);
    CompilerInstance ci(invocation);
    if (!CompilerInvocation::CreateFromArgs(*invocation, ArrayRef<const char *>(args, n_args),
                                            *early))
        return false;
    dialect(invocation->getLangOpts(), invocation->getCodeGenOpts(), fast_math);
    ci.setVirtualFileSystem(fs);
    ci.createDiagnostics(&job, false);
    job.ci = &ci;
    if (!ci.createTarget()) return false;
    llvm::IntrusiveRefCntPtr<TargetInfo> base = &ci.getTarget();
    ci.setTarget(new MslTarget(base.get()));
    ci.addDependencyCollector(std::make_shared<Files>(client));
    if (mode == BRIDGE_PCH) {
        Action<GeneratePCHAction> action(job);
        return runAction(action, ci);
    }
    if (mode == BRIDGE_PREPROCESS) {
        Preprocess action(job);
        return runAction(action, ci);
    }
    Action<ASTFrontendAction> action(job);
    return runAction(action, ci);
}

// Linking.
// Objects travel through memory files and the result through a pipe: the process may have no folder
// to write to, and beside an output that is a file lld wants to put another.
static int objectFile(const MslElf &object) {
    int fd = memfd_create("ingot.o", MFD_CLOEXEC);
    llvm::raw_fd_ostream os(fd, false);
    if (fd < 0) return -1;
    os.write((const char *)object.bytes, object.n_bytes);
    os.flush();
    bool failed = os.has_error();
    os.clear_error();
    if (!failed) return fd;
    close(fd);
    return -1;
}

struct LLVMOpaqueDIBuilder *bridge_debug_builder(struct LLVMOpaqueModule *module,
                                                 struct LLVMOpaqueMetadata *subprogram,
                                                 struct LLVMOpaqueMetadata **unit) {
    auto *at = llvm::cast<llvm::DISubprogram>(llvm::unwrap(subprogram));
    *unit = llvm::wrap(at->getUnit());
    return llvm::wrap(new llvm::DIBuilder(*llvm::unwrap(module), true, at->getUnit()));
}

bool msl_name_places(const void *elf, size_t n_bytes, const uint64_t *places, size_t n,
                     MslNamePlace *name, void *context) {
    llvm::MemoryBufferRef bytes(llvm::StringRef((const char *)elf, n_bytes), "code");
    auto object = llvm::object::ObjectFile::createObjectFile(bytes);
    if (!object) {
        llvm::consumeError(object.takeError());
        return false;
    }
    auto dwarf = llvm::DWARFContext::create(**object);
    llvm::DILineInfoSpecifier how(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                  llvm::DILineInfoSpecifier::FunctionNameKind::ShortName);
    for (size_t i = 0; i < n; i++) {
        llvm::DIInliningInfo all = dwarf->getInliningInfoForAddress({places[i]}, how);
        for (uint32_t k = 0; k < all.getNumberOfFrames(); k++) {
            const llvm::DILineInfo &at = all.getFrame(k);
            name(context, i, at.FunctionName.c_str(), at.FileName.c_str(), at.Line);
        }
    }
    return true;
}

void bridge_drop_variables(struct LLVMOpaqueModule *module) {
    for (llvm::Function &f : *llvm::unwrap(module))
        for (llvm::BasicBlock &b : f)
            for (llvm::Instruction &i : b) i.dropDbgRecords();
}

void bridge_schedule(bool yes) {
    static const char name[] = "enable-misched";
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find(name);
    if (found == options.end()) return;
    found->second->reset();
    if (!yes) found->second->addOccurrence(0, name, "false");
}

struct LLVMOpaqueBasicBlock *bridge_split_before(struct LLVMOpaqueValue *first) {
    auto *at = llvm::cast<llvm::Instruction>(llvm::unwrap(first));
    llvm::BasicBlock *old = at->getParent(), *rest = old->splitBasicBlock(at);
    old->getTerminator()->eraseFromParent();
    return llvm::wrap(rest);
}

void bridge_forget_headers(struct LLVMOpaqueModule *module) {
    for (llvm::Function &f : *llvm::unwrap(module)) {
        llvm::DISubprogram *at = f.getSubprogram();
        if (!at) continue;
        if (at->getFilename().starts_with(BRIDGE_STDLIB) || at->isArtificial())
            llvm::stripDebugInfo(f);
        else
            at->replaceLinkageName(nullptr); // debuggers would show all of it, address spaces too
    }
}

bool msl_link_shared(const MslElf *objects, size_t n, unsigned char **so, size_t *so_bytes,
                     char **error) {
    static std::mutex lock; // lld's state is global
    std::lock_guard<std::mutex> guard(lock);
    *so = nullptr, *so_bytes = 0, *error = nullptr;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::SmallVector<int, 2> in;
    for (size_t i = 0; i < n; i++) in.push_back(objectFile(objects[i]));
    int out[2];
    if (!llvm::is_contained(in, -1) && pipe2(out, O_CLOEXEC) == 0) {
        std::string result;
        std::thread reader([&result, from = out[0]] {
            char part[1 << 16];
            for (ssize_t got; (got = read(from, part, sizeof part)) > 0;) result.append(part, got);
        });
        std::string outPath = "/proc/self/fd/" + std::to_string(out[1]);
        llvm::SmallVector<std::string, 2> inPaths;
        for (int fd : in) inPaths.push_back("/proc/self/fd/" + std::to_string(fd));
        llvm::SmallVector<const char *, 16> args = {"ld.lld",
                                                    "-shared",
                                                    "-Bsymbolic",
                                                    "--gc-sections",
                                                    "--threads=1",
                                                    "--build-id=none",
                                                    "--hash-style=gnu",
                                                    "-z",
                                                    "now",
                                                    "-z",
                                                    "noexecstack",
                                                    "-o",
                                                    outPath.c_str()};
        for (const std::string &path : inPaths) args.push_back(path.c_str());
        llvm::CrashRecoveryContext::Enable(); // a fatal error of lld then returns instead of
                                              // exiting
        bool linked = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}}).retCode == 0;
        llvm::CrashRecoveryContext::Disable();
        close(out[1]);
        reader.join();
        close(out[0]);
        if (linked && !result.empty() && (*so = (unsigned char *)malloc(result.size())))
            memcpy(*so, result.data(), *so_bytes = result.size());
    }
    for (int fd : in)
        if (fd >= 0) close(fd);
    if (!*so) *error = strdup(text.empty() ? "linking the code object failed" : text.c_str());
    return *so != nullptr;
}
