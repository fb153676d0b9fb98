// Faults on purpose: a library that is loaded before all others (LD_PRELOAD) and fails the n-th call of the system that
// works on watched files, or the n-th allocation or thread that the add-on asks for. Linux with glibc only.
// test/support/faults.ts builds it, says in a page of shared memory what is to fail, and reads there what happened:
//   BANYAN_FAULTS        the file of that page
//   BANYAN_FAULTS_PATHS  absolute paths, separated by ":"; a file is watched whose path begins with one of them
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);
}

namespace {

/// What the page says; the order is that of test/support/faults.ts. A call that is numbered fails where
/// first <= number <= last.
struct Page {
  int64_t kinds;  // which calls are numbered: a sum of the kinds below
  int64_t first;  // 0: none fails
  int64_t last;
  int64_t how;     // an errno, or one of the ways below
  int64_t calls;   // numbered so far
  int64_t fired;   // failed so far
  int64_t open;    // watched descriptors that are open for writing
  int64_t blocks;  // of the add-on's memory that are not freed
  char what[64];   // the call that failed first
};

constexpr int64_t kFiles = 1, kMemory = 2, kThreads = 4;
/// Only half of what is written or read; the process is killed before the call, or behind it.
constexpr int64_t kShort = -1, kKillBefore = -2, kKillAfter = -3;
constexpr int kMostDescriptors = 4096;
constexpr int kMostPaths = 8;

Page* page = nullptr;
const char* paths[kMostPaths];
size_t path_lengths[kMostPaths];
int path_count = 0;
enum Watch : uint8_t { kNot, kRead, kWritten };
Watch watched[kMostDescriptors];
uintptr_t addon_first = 0, addon_last = 0;

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// The system's own call.
template <typename... Arguments>
long Raw(long number, Arguments... arguments) {
  static const auto next = Next<decltype(&syscall)>("syscall");
  return next(number, arguments...);
}

__attribute__((constructor)) void Start() {
  const char* file = getenv("BANYAN_FAULTS");
  if (file == nullptr) return;
  const int descriptor = static_cast<int>(Raw(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC));
  if (descriptor < 0) return;
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  Raw(SYS_close, descriptor);
  if (memory == MAP_FAILED) return;
  const char* at = getenv("BANYAN_FAULTS_PATHS");
  while (at != nullptr && *at != '\0' && path_count < kMostPaths) {
    const char* end = strchrnul(at, ':');
    paths[path_count] = at;
    path_lengths[path_count++] = static_cast<size_t>(end - at);
    at = *end == ':' ? end + 1 : end;
  }
  page = static_cast<Page*>(memory);
}

bool IsWatched(const char* path) {
  for (int i = 0; page != nullptr && path != nullptr && i < path_count; i++) {
    if (strncmp(path, paths[i], path_lengths[i]) == 0) return true;
  }
  return false;
}

bool IsWatched(int descriptor) {
  return descriptor >= 0 && descriptor < kMostDescriptors && watched[descriptor] != kNot;
}

int Opened(int descriptor, int flags) {
  if (descriptor >= 0 && descriptor < kMostDescriptors) {
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    watched[descriptor] = writes ? kWritten : kRead;
    if (writes) __atomic_add_fetch(&page->open, 1, __ATOMIC_SEQ_CST);
  }
  return descriptor;
}

/// Numbers a call of a kind; returns how it is to fail, 0 for not at all.
int64_t FaultOf(int64_t kind, const char* what) {
  if (page == nullptr || (__atomic_load_n(&page->kinds, __ATOMIC_SEQ_CST) & kind) == 0) return 0;
  const int64_t number = __atomic_add_fetch(&page->calls, 1, __ATOMIC_SEQ_CST);
  if (page->first == 0 || number < page->first || number > page->last) return 0;
  if (__atomic_fetch_add(&page->fired, 1, __ATOMIC_SEQ_CST) == 0) strncpy(page->what, what, sizeof(page->what) - 1);
  if (page->how == kKillBefore) raise(SIGKILL);
  return page->how;
}

/// Makes a call on a watched file, or fails it.
template <typename Result, typename Call>
Result Do(const char* what, Result failed, bool is_watched, const Call& call) {
  const int64_t fault = is_watched ? FaultOf(kFiles, what) : 0;
  if (fault > 0) {
    errno = static_cast<int>(fault);
    return failed;
  }
  const Result result = call();
  if (fault == kKillAfter) raise(SIGKILL);
  return result;
}

/// The same for a call that moves bytes, which may also be cut short.
template <typename Call>
ssize_t DoBytes(const char* what, int descriptor, size_t size, const Call& call) {
  const int64_t fault = IsWatched(descriptor) ? FaultOf(kFiles, what) : 0;
  if (fault > 0) {
    errno = static_cast<int>(fault);
    return -1;
  }
  const ssize_t result = call(fault == kShort || fault == kKillAfter ? (size + 1) / 2 : size);
  if (fault == kKillAfter) raise(SIGKILL);
  return result;
}

/// Closes a descriptor; where that fails it is closed all the same, as Linux does.
int Close(int descriptor) {
  const bool was = IsWatched(descriptor);
  if (was) {
    if (watched[descriptor] == kWritten) __atomic_sub_fetch(&page->open, 1, __ATOMIC_SEQ_CST);
    watched[descriptor] = kNot;
  }
  const int64_t fault = was ? FaultOf(kFiles, "close") : 0;
  const int result = static_cast<int>(Raw(SYS_close, descriptor));
  if (fault == kKillAfter) raise(SIGKILL);
  if (fault <= 0) return result;
  errno = static_cast<int>(fault);
  return -1;
}

/// Whether an address is in the add-on's code.
bool IsAddon(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= addon_first && at < addon_last;
}

int FindAddon(struct dl_phdr_info* info, size_t, void*) {
  const size_t length = strlen(info->dlpi_name);
  constexpr char kName[] = "banyan.node";
  if (length < sizeof(kName) - 1 || strcmp(info->dlpi_name + length - (sizeof(kName) - 1), kName) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD || (info->dlpi_phdr[i].p_flags & PF_X) == 0) continue;
    addon_first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    addon_last = addon_first + info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

void Count(void* block) {
  if (block != nullptr) __atomic_add_fetch(&page->blocks, 1, __ATOMIC_SEQ_CST);
}

}  // namespace

// The C++ library's own, but for that they leave free() with a call: it goes there by a jump, which looks like the add-on's.
void operator delete(void* block) noexcept { __libc_free(block); }
void operator delete[](void* block) noexcept { __libc_free(block); }
void operator delete(void* block, size_t) noexcept { __libc_free(block); }
void operator delete[](void* block, size_t) noexcept { __libc_free(block); }

// Calls `name` of the library behind this one, with its own type.
#define NEXT(name) static const auto next = Next<decltype(&name)>(#name);

extern "C" {

void* dlopen(const char* file, int mode) {
  NEXT(dlopen)
  void* handle = next(file, mode);
  if (page != nullptr && addon_last == 0) dl_iterate_phdr(FindAddon, nullptr);
  return handle;
}

// Memory: only what the add-on asks for, for V8 ends the process when its own memory cannot be had.

void* malloc(size_t size) {
  if (!IsAddon(__builtin_return_address(0))) return __libc_malloc(size);
  if (FaultOf(kMemory, "malloc") != 0) return nullptr;
  void* block = __libc_malloc(size);
  Count(block);
  return block;
}

void* calloc(size_t count, size_t size) {
  if (!IsAddon(__builtin_return_address(0))) return __libc_calloc(count, size);
  if (FaultOf(kMemory, "calloc") != 0) return nullptr;
  void* block = __libc_calloc(count, size);
  Count(block);
  return block;
}

void* realloc(void* old, size_t size) {
  if (!IsAddon(__builtin_return_address(0))) return __libc_realloc(old, size);
  if (FaultOf(kMemory, "realloc") != 0) return nullptr;
  void* block = __libc_realloc(old, size);
  if (old == nullptr) Count(block);
  return block;
}

void free(void* block) {
  if (block != nullptr && IsAddon(__builtin_return_address(0))) __atomic_sub_fetch(&page->blocks, 1, __ATOMIC_SEQ_CST);
  __libc_free(block);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  NEXT(pthread_create)
  if (FaultOf(kThreads, "pthread_create") != 0) return EAGAIN;
  return next(thread, attributes, start, argument);
}

// Files. Node's library calls the system by these names, or by syscall().

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  const bool is_watched = IsWatched(path);
  const int descriptor = Do("open", -1, is_watched, [&] {
    return static_cast<int>(Raw(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode));
  });
  return is_watched ? Opened(descriptor, flags) : descriptor;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open64(path, flags, mode);
}

ssize_t read(int descriptor, void* to, size_t size) {
  return DoBytes("read", descriptor, size, [&](size_t some) { return Raw(SYS_read, descriptor, to, some); });
}

ssize_t write(int descriptor, const void* from, size_t size) {
  return DoBytes("write", descriptor, size, [&](size_t some) { return Raw(SYS_write, descriptor, from, some); });
}

ssize_t pread64(int descriptor, void* to, size_t size, off64_t at) {
  return DoBytes("pread", descriptor, size, [&](size_t some) { return Raw(SYS_pread64, descriptor, to, some, at); });
}

ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t at) {
  return DoBytes("pwrite", descriptor, size,
                 [&](size_t some) { return Raw(SYS_pwrite64, descriptor, from, some, at); });
}

ssize_t readv(int descriptor, const struct iovec* parts, int count) {
  return DoBytes("readv", descriptor, static_cast<size_t>(count),
                 [&](size_t some) { return Raw(SYS_readv, descriptor, parts, static_cast<int>(some)); });
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  return DoBytes("writev", descriptor, static_cast<size_t>(count),
                 [&](size_t some) { return Raw(SYS_writev, descriptor, parts, static_cast<int>(some)); });
}

int close(int descriptor) { return Close(descriptor); }

#define ON_DESCRIPTOR(name, type, ...) \
  NEXT(name)                           \
  return Do(#name, type{-1}, IsWatched(descriptor), [&] { return next(__VA_ARGS__); });
#define ON_PATH(name, type, ...) \
  NEXT(name)                     \
  return Do(#name, type{-1}, IsWatched(path), [&] { return next(__VA_ARGS__); });

int fsync(int descriptor) { ON_DESCRIPTOR(fsync, int, descriptor) }
int fdatasync(int descriptor) { ON_DESCRIPTOR(fdatasync, int, descriptor) }
int ftruncate64(int descriptor, off64_t size) noexcept { ON_DESCRIPTOR(ftruncate64, int, descriptor, size) }
int fchmod(int descriptor, mode_t mode) noexcept { ON_DESCRIPTOR(fchmod, int, descriptor, mode) }
int fchown(int descriptor, uid_t user, gid_t group) noexcept { ON_DESCRIPTOR(fchown, int, descriptor, user, group) }
int futimens(int descriptor, const struct timespec* times) noexcept { ON_DESCRIPTOR(futimens, int, descriptor, times) }
int rename(const char* path, const char* to) noexcept { ON_PATH(rename, int, path, to) }
int link(const char* path, const char* to) noexcept { ON_PATH(link, int, path, to) }
int unlink(const char* path) noexcept { ON_PATH(unlink, int, path) }
int mkdir(const char* path, mode_t mode) noexcept { ON_PATH(mkdir, int, path, mode) }
int rmdir(const char* path) noexcept { ON_PATH(rmdir, int, path) }
int chmod(const char* path, mode_t mode) noexcept { ON_PATH(chmod, int, path, mode) }
int chown(const char* path, uid_t user, gid_t group) noexcept { ON_PATH(chown, int, path, user, group) }
int access(const char* path, int mode) noexcept { ON_PATH(access, int, path, mode) }
int statfs64(const char* path, struct statfs64* facts) noexcept { ON_PATH(statfs64, int, path, facts) }

char* mkdtemp(char* path) noexcept {
  NEXT(mkdtemp)
  return Do("mkdtemp", static_cast<char*>(nullptr), IsWatched(path), [&] { return next(path); });
}

char* realpath(const char* __restrict path, char* __restrict to) noexcept {
  NEXT(realpath)
  return Do("realpath", static_cast<char*>(nullptr), IsWatched(path), [&] { return next(path, to); });
}

DIR* opendir(const char* path) {
  NEXT(opendir)
  return Do("opendir", static_cast<DIR*>(nullptr), IsWatched(path), [&] { return next(path); });
}

int scandir64(const char* __restrict path, struct dirent64*** __restrict found, int (*wanted)(const struct dirent64*),
              int (*order)(const struct dirent64**, const struct dirent64**)) {
  ON_PATH(scandir64, int, path, found, wanted, order)
}

long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& argument : a) argument = va_arg(rest, long);
  va_end(rest);
  const auto raw = [&] { return Raw(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
  if (page == nullptr) return raw();
  const auto* path = reinterpret_cast<const char*>(a[1]);
  switch (number) {
    case SYS_close:
      return Close(static_cast<int>(a[0]));
    case SYS_statx:
      return Do("stat", -1L, *path == '\0' ? IsWatched(static_cast<int>(a[0])) : IsWatched(path), raw);
    case SYS_renameat2:
      return Do("rename", -1L, IsWatched(path), raw);
    case SYS_copy_file_range:
      return Do("copy_file_range", -1L, IsWatched(static_cast<int>(a[0])), raw);
    default:
      return raw();
  }
}

}  // extern "C"
