// SPDX-License-Identifier: Apache-2.0
// source_files.h: which files a source may see by #include. A source given as text sees none but
// Metal's headers; the caller allows folders, and the source's own where it was read from a file.
// libingot answers the confined compiler with this, and `mslc build` itself.
#ifndef INGOT_ABI_SOURCE_FILES_H
#define INGOT_ABI_SOURCE_FILES_H
#include "abi/requests.h"

typedef struct SourceFiles SourceFiles;

// The folders of the source's include_dirs, those of the files it is to read first (-include), and
// that of its name if there is a file of that name, with the project that is in: what a user named.
// Names are relative to cwd (NULL: the process's own). NULL without memory.
SourceFiles *source_files_new(const MslSource *source, const char *cwd);
// The folders, without symbolic links; NULL behind the last.
const char *source_files_folder(const SourceFiles *files, size_t i);
void source_files_free(SourceFiles *files);

// An MslFiles.find, with a SourceFiles for its context. A file is found by where it lies, behind
// all symbolic links. What lies elsewhere is refused whether there is something or not.
// In the project hidden folders are left out.
MslFile source_files_find(void *files, const char *path);
#endif
