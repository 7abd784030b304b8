// Preload library that simulates a disk with power loss: logs a program's operations on the files below one folder, to reconstruct possible
// disk contents with only the synced data certain. Also makes a disk slow, full or faulty. Must not change the program's reads, nor touch files
// outside the folder.
//
//   cc -shared -fPIC -O2 -o forgetful-disk.so forgetful-disk.c        and then        LD_PRELOAD=…/forgetful-disk.so FORGETFUL_ROOT=… program
//
//   FORGETFUL_ROOT              the folder, absolute and without symbolic links. Without it the library does nothing.
//   FORGETFUL_LOG               log file to append to, outside the folder. Without it nothing is logged.
//   FORGETFUL_IGNORE_SYNC=1     a lying disk: synced data does not count as synced, and is not synced either.
//   FORGETFUL_SKIP_SYNC=1       logs syncs without executing them: fast, if the log alone decides on the loss.
//   FORGETFUL_SYNC_DELAY_MS     delay of every fsync and fdatasync below the folder …
//   FORGETFUL_SYNC_JITTER_MS    … plus or minus a random time up to this.
//   FORGETFUL_WRITE_DELAY_MS    delay of every write below the folder.
//   FORGETFUL_FAIL_AFTER_BYTES  number of bytes written below the folder after which every write, growth and new file fails …
//   FORGETFUL_FAIL_WITH         … with ENOSPC (the default), EIO, EDQUOT or EROFS.
//   FORGETFUL_FAIL_SYNC_AFTER   number of syncs below the folder after which every sync fails with EIO.
//   FORGETFUL_GATE              a path: delays and failures apply, and bytes and syncs are counted, only while a file exists there; the counts
//                               restart from zero each time it appears.
//
// Interposes libc calls: all of SQLite's, and Bun's relevant ones (fsync, link, rename, unlink). Bun opens, writes and creates folders without
// libc, so names are listed on every sync of a folder instead of tracked per call, and small files are logged whole on every sync. Writes to
// memory-mapped files (SQLite's -shm) are not seen: the contents of such a file are unknown after a loss.
//
// The log is a sequence of records, each appended by one call, so that it is complete at any kill. Little endian:
//   u32 magic 0x4b534944, u32 type, u64 inode, u64 offset, u64 length of the payload, u32 sync id, u32 flags; then the payload.
//   1 write      bytes at offset
//   2 truncate   to the size `offset`
//   3 begin      start of a file's sync: covers its earlier records. Flag 1: the payload is the whole file (4,096 bytes at most)
//   4 end        the sync with this id is complete
//   5 listing    a folder's sync is complete: its path and NUL, then for each entry inode, space, f or d or o, space, name, NUL
//   6 rename     old path, NUL, new path, NUL; `inode` is the renamed file
//   7 unlink     path, NUL; offset is the inode's remaining number of names
//   8 create     path, NUL: a new file
//   9 open       path, NUL: an existing file; offset is its size
//  10 map        path, NUL: a file was mapped for writing
//  11 refused    an injected failure of a write, growth or sync; offset is the errno

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, BEGIN, END, LISTING, RENAME, UNLINK, CREATE, OPEN, MAP, REFUSED };

#define MAGIC 0x4b534944u
#define WHOLE_MAX 4096
#define LISTING_MAX (1 << 20)
#define REAL(result, name, ...)                                       \
  static result (*real)(__VA_ARGS__);                                 \
  if (real == NULL) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

struct head {
  uint32_t magic, type;
  uint64_t inode, offset, length;
  uint32_t sync, flags;
};

static char root[PATH_MAX];
static size_t rootLength;
static int logFile = -1;
static int ignoresSync, skipsSync;
static long syncDelayMs, syncJitterMs, writeDelayMs;
static long long failAfterBytes = -1, failSyncAfter = -1;
static int failWith = ENOSPC;
static const char *gate;
static atomic_llong bytesWritten, syncsDone;
static atomic_int wasOpen;
static atomic_uint nextSync;

static long long numberOf(const char *name, long long otherwise) {
  const char *text = getenv(name);
  return text == NULL || *text == 0 ? otherwise : atoll(text);
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("FORGETFUL_ROOT");
  if (folder == NULL || *folder != '/' || strlen(folder) >= sizeof root) return;
  strcpy(root, folder);
  rootLength = strlen(root);
  while (rootLength > 1 && root[rootLength - 1] == '/') root[--rootLength] = 0;
  ignoresSync = numberOf("FORGETFUL_IGNORE_SYNC", 0) != 0;
  skipsSync = numberOf("FORGETFUL_SKIP_SYNC", 0) != 0;
  syncDelayMs = numberOf("FORGETFUL_SYNC_DELAY_MS", 0);
  syncJitterMs = numberOf("FORGETFUL_SYNC_JITTER_MS", 0);
  writeDelayMs = numberOf("FORGETFUL_WRITE_DELAY_MS", 0);
  failAfterBytes = numberOf("FORGETFUL_FAIL_AFTER_BYTES", -1);
  failSyncAfter = numberOf("FORGETFUL_FAIL_SYNC_AFTER", -1);
  const char *with = getenv("FORGETFUL_FAIL_WITH");
  if (with != NULL && strcmp(with, "EIO") == 0) failWith = EIO;
  if (with != NULL && strcmp(with, "EDQUOT") == 0) failWith = EDQUOT;
  if (with != NULL && strcmp(with, "EROFS") == 0) failWith = EROFS;
  gate = getenv("FORGETFUL_GATE");
  // Sync ids are distinct even if several programs share one log.
  atomic_store(&nextSync, (uint32_t)getpid() * 2654435761u);
  const char *log = getenv("FORGETFUL_LOG");
  if (log != NULL && *log != 0) {
    logFile = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    // The descriptor is moved far from those that the program uses.
    int far = logFile == -1 ? -1 : fcntl(logFile, F_DUPFD_CLOEXEC, 900);
    if (far != -1) {
      syscall(SYS_close, logFile);
      logFile = far;
    }
    if (logFile == -1) {
      fprintf(stderr, "forgetful-disk: %s cannot be written\n", log);
      abort();
    }
  }
}

// --- files below the folder ---

static int isBelow(const char *path) {
  return rootLength > 0 && strncmp(path, root, rootLength) == 0 && (path[rootLength] == '/' || path[rootLength] == 0);
}

static int isShared(const char *path) {
  size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, "-shm") == 0;
}

/** 1 if the descriptor is of a regular file or a folder below the root; fills `path`, which has PATH_MAX bytes. */
static int isTracked(int fd, struct stat *status, char *path) {
  if (rootLength == 0 || fd < 0 || fd == logFile) return 0;
  if (fstat(fd, status) != 0 || !(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) return 0;
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return isBelow(path) && !isShared(path);
}

/** Makes a path absolute; 0 if that fails or the path is outside the root. */
static int locate(int folder, const char *given, char *path) {
  if (rootLength == 0 || given == NULL) return 0;
  if (*given == '/') {
    if (strlen(given) >= PATH_MAX) return 0;
    strcpy(path, given);
  } else {
    char base[PATH_MAX];
    if (folder == AT_FDCWD) {
      if (getcwd(base, sizeof base) == NULL) return 0;
    } else {
      char link[40];
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
      ssize_t length = readlink(link, base, sizeof base - 1);
      if (length <= 0) return 0;
      base[length] = 0;
    }
    if (snprintf(path, PATH_MAX, "%s/%s", base, given) >= PATH_MAX) return 0;
  }
  return isBelow(path) && !isShared(path);
}

// --- the log ---

static void note(struct head head, const void *first, size_t firstLength, const void *second, size_t secondLength) {
  if (logFile == -1) return;
  int savedErrno = errno;
  head.magic = MAGIC;
  head.length = firstLength + secondLength;
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)first, firstLength}, {(void *)second, secondLength}};
  long done = syscall(SYS_writev, logFile, parts, 3);
  if (done != (long)(sizeof head + head.length)) {
    static const char message[] = "forgetful-disk: the log cannot be written\n";
    syscall(SYS_write, 2, message, sizeof message - 1);
    abort();
  }
  errno = savedErrno;
}

static void notePath(uint32_t type, uint64_t inode, uint64_t offset, const char *path, const char *second) {
  note((struct head){.type = type, .inode = inode, .offset = offset}, path, strlen(path) + 1, second, second == NULL ? 0 : strlen(second) + 1);
}

// --- faults ---

/** Whether delays and failures apply now. */
static int isFaulty(void) {
  if (gate == NULL || *gate == 0) return 1;
  int isOpen = access(gate, F_OK) == 0;
  if (isOpen && !atomic_exchange(&wasOpen, 1)) {
    atomic_store(&bytesWritten, 0);
    atomic_store(&syncsDone, 0);
  }
  if (!isOpen) atomic_store(&wasOpen, 0);
  return isOpen;
}

static void pauseMs(long ms) {
  if (ms <= 0) return;
  int savedErrno = errno;
  struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
  errno = savedErrno;
}

static long jittered(void) {
  if (syncJitterMs <= 0) return syncDelayMs;
  static atomic_ulong state = 88172645463325252ul;
  unsigned long x = atomic_fetch_add(&state, 0x9e3779b97f4a7c15ul);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
  return syncDelayMs + (long)(x % (unsigned long)(2 * syncJitterMs + 1)) - syncJitterMs;
}

static int refuse(int reason) {
  note((struct head){.type = REFUSED, .offset = (uint64_t)reason}, NULL, 0, NULL, 0);
  errno = reason;
  return 1;
}

/** Returns 1 and sets errno if a write of this length must fail. */
static int failsWrite(size_t length) {
  if ((failAfterBytes < 0 && writeDelayMs <= 0) || !isFaulty()) return 0;
  pauseMs(writeDelayMs);
  if (failAfterBytes < 0 || atomic_fetch_add(&bytesWritten, (long long)length) + (long long)length <= failAfterBytes) return 0;
  return refuse(failWith);
}

static int failsSync(void) {
  if ((failSyncAfter < 0 && syncDelayMs <= 0 && syncJitterMs <= 0) || !isFaulty()) return 0;
  pauseMs(jittered());
  if (failSyncAfter < 0 || atomic_fetch_add(&syncsDone, 1) < failSyncAfter) return 0;
  return refuse(EIO);
}

// --- writes ---

static void noteWrite(const struct stat *status, const void *bytes, size_t length, off_t offset) {
  note((struct head){.type = WRITE, .inode = status->st_ino, .offset = (uint64_t)offset}, bytes, length, NULL, 0);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = isTracked(fd, &status, path);
  if (isBelowRoot && failsWrite(length)) return -1;
  ssize_t done = real(fd, bytes, length, offset);
  if (isBelowRoot && done > 0) noteWrite(&status, bytes, (size_t)done, offset);
  return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return pwrite64(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = isTracked(fd, &status, path);
  if (isBelowRoot && failsWrite(length)) return -1;
  ssize_t done = real(fd, bytes, length);
  if (isBelowRoot && done > 0) noteWrite(&status, bytes, (size_t)done, lseek(fd, 0, SEEK_CUR) - done);
  return done;
}

static void noteParts(const struct stat *status, const struct iovec *parts, int count, ssize_t done, off_t offset) {
  for (int i = 0; i < count && done > 0; i += 1) {
    size_t length = parts[i].iov_len < (size_t)done ? parts[i].iov_len : (size_t)done;
    noteWrite(status, parts[i].iov_base, length, offset);
    offset += (off_t)length;
    done -= (ssize_t)length;
  }
}

static size_t sizeOf(const struct iovec *parts, int count) {
  size_t length = 0;
  for (int i = 0; i < count; i += 1) length += parts[i].iov_len;
  return length;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = isTracked(fd, &status, path);
  if (isBelowRoot && failsWrite(sizeOf(parts, count))) return -1;
  ssize_t done = real(fd, parts, count);
  if (isBelowRoot && done > 0) noteParts(&status, parts, count, done, lseek(fd, 0, SEEK_CUR) - done);
  return done;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = isTracked(fd, &status, path);
  if (isBelowRoot && failsWrite(sizeOf(parts, count))) return -1;
  ssize_t done = real(fd, parts, count, offset);
  if (isBelowRoot && done > 0) noteParts(&status, parts, count, done, offset);
  return done;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

// --- sizes ---

int ftruncate64(int fd, off64_t size) {
  REAL(int, "ftruncate64", int, off64_t);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = isTracked(fd, &status, path);
  if (isBelowRoot && size > status.st_size && failsWrite((size_t)(size - status.st_size))) return -1;
  int done = real(fd, size);
  if (isBelowRoot && done == 0) note((struct head){.type = TRUNCATE, .inode = status.st_ino, .offset = (uint64_t)size}, NULL, 0, NULL, 0);
  return done;
}

int ftruncate(int fd, off_t size) {
  return ftruncate64(fd, size);
}

int truncate(const char *given, off_t size) {
  REAL(int, "truncate", const char *, off_t);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = locate(AT_FDCWD, given, path) && stat(path, &status) == 0;
  int done = real(given, size);
  if (isBelowRoot && done == 0) note((struct head){.type = TRUNCATE, .inode = status.st_ino, .offset = (uint64_t)size}, NULL, 0, NULL, 0);
  return done;
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
  REAL(int, "fallocate", int, int, off_t, off_t);
  struct stat status;
  char path[PATH_MAX];
  int isBelowRoot = isTracked(fd, &status, path);
  // Other modes are refused: callers have a fallback.
  if (isBelowRoot && mode != 0) return errno = EOPNOTSUPP, -1;
  if (isBelowRoot && offset + length > status.st_size && failsWrite((size_t)(offset + length - status.st_size))) return -1;
  int done = real(fd, mode, offset, length);
  if (isBelowRoot && done == 0 && offset + length > status.st_size) {
    note((struct head){.type = TRUNCATE, .inode = status.st_ino, .offset = (uint64_t)(offset + length)}, NULL, 0, NULL, 0);
  }
  return done;
}

int posix_fallocate64(int fd, off64_t offset, off64_t length) {
  return fallocate(fd, 0, offset, length) == 0 ? 0 : errno;
}

int posix_fallocate(int fd, off_t offset, off_t length) {
  return posix_fallocate64(fd, offset, length);
}

// --- syncs ---

/** Returns the current entries of a folder in the form of a listing; the caller frees the text. */
static char *list(const char *path, size_t *length) {
  char *text = malloc(LISTING_MAX);
  DIR *folder = text == NULL ? NULL : opendir(path);
  if (folder == NULL) abort();
  size_t used = (size_t)snprintf(text, LISTING_MAX, "%s", path) + 1;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    struct stat status;
    if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    char type = S_ISREG(status.st_mode) ? 'f' : S_ISDIR(status.st_mode) ? 'd' : 'o';
    if (used + strlen(entry->d_name) + 32 > LISTING_MAX) abort();
    used += (size_t)snprintf(text + used, LISTING_MAX - used, "%llu %c %s", (unsigned long long)status.st_ino, type, entry->d_name) + 1;
  }
  closedir(folder);
  *length = used;
  return text;
}

/** Reads a whole file, also through a descriptor that was opened write-only. */
static ssize_t readWhole(int fd, char *whole, size_t size) {
  if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY) return pread(fd, whole, size, 0);
  // Not reached for databases, as SQLite has no write-only descriptors: closing any descriptor would drop all locks of
  // the process on the file (POSIX).
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int copy = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
  if (copy == -1) return -1;
  ssize_t length = pread(copy, whole, size, 0);
  syscall(SYS_close, copy);
  return length;
}

static int syncFile(int fd, int (*real)(int)) {
  struct stat status;
  char path[PATH_MAX];
  if (!isTracked(fd, &status, path)) return real(fd);
  uint32_t id = atomic_fetch_add(&nextSync, 1);
  char *listing = NULL;
  size_t listed = 0;
  if (S_ISDIR(status.st_mode)) {
    listing = list(path, &listed);
  } else if (!ignoresSync) {
    char whole[WHOLE_MAX];
    ssize_t length = -1;
    if (status.st_size <= WHOLE_MAX) length = readWhole(fd, whole, (size_t)status.st_size);
    int isWhole = length == status.st_size;
    note((struct head){.type = BEGIN, .inode = status.st_ino, .sync = id, .flags = (uint32_t)isWhole}, whole, isWhole ? (size_t)length : 0, NULL, 0);
  }
  int done = failsSync() ? -1 : ignoresSync || skipsSync ? 0 : real(fd);
  if (done == 0 && !ignoresSync) {
    if (listing != NULL) note((struct head){.type = LISTING, .inode = status.st_ino, .sync = id}, listing, listed, NULL, 0);
    else note((struct head){.type = END, .inode = status.st_ino, .sync = id}, NULL, 0, NULL, 0);
  }
  int savedErrno = errno;
  free(listing);
  errno = savedErrno;
  return done;
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  return syncFile(fd, real);
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return syncFile(fd, real);
}

// --- names ---

static int noteOpen(int fd, int folder, const char *given, int wasThere) {
  char path[PATH_MAX];
  struct stat status;
  if (fd == -1 || !locate(folder, given, path) || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return fd;
  notePath(wasThere ? OPEN : CREATE, status.st_ino, (uint64_t)status.st_size, path, NULL);
  return fd;
}

/** Whether a path exists; returns -1 and sets errno if the creation of a new file must fail. */
static int exists(int folder, const char *given, int flags) {
  char path[PATH_MAX];
  if (!locate(folder, given, path)) return 1;
  int isThere = faccessat(AT_FDCWD, path, F_OK, 0) == 0;
  errno = 0;
  if (!isThere && (flags & O_CREAT) != 0 && failAfterBytes >= 0 && failsWrite(0)) return -1;
  return isThere;
}

#define MODE(flags)                                         \
  mode_t mode = 0;                                          \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {             \
    va_list rest;                                           \
    va_start(rest, flags);                                  \
    mode = va_arg(rest, mode_t);                            \
    va_end(rest);                                           \
  }

int open64(const char *path, int flags, ...) {
  REAL(int, "open64", const char *, int, ...);
  MODE(flags)
  int wasThere = exists(AT_FDCWD, path, flags);
  if (wasThere == -1) return -1;
  return noteOpen(real(path, flags, mode), AT_FDCWD, path, wasThere);
}

int open(const char *path, int flags, ...) {
  MODE(flags)
  return open64(path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  REAL(int, "openat64", int, const char *, int, ...);
  MODE(flags)
  int wasThere = exists(folder, path, flags);
  if (wasThere == -1) return -1;
  return noteOpen(real(folder, path, flags, mode), folder, path, wasThere);
}

int openat(int folder, const char *path, int flags, ...) {
  MODE(flags)
  return openat64(folder, path, flags, mode);
}

static int noteRename(int done, int oldFolder, const char *from, int newFolder, const char *to) {
  char oldPath[PATH_MAX], newPath[PATH_MAX];
  struct stat status;
  if (done != 0 || !locate(oldFolder, from, oldPath) || !locate(newFolder, to, newPath) || lstat(newPath, &status) != 0) return done;
  notePath(RENAME, status.st_ino, 0, oldPath, newPath);
  return done;
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  return noteRename(real(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int oldFolder, const char *from, int newFolder, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  return noteRename(real(oldFolder, from, newFolder, to), oldFolder, from, newFolder, to);
}

int unlinkat(int folder, const char *given, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  char path[PATH_MAX];
  struct stat status;
  int isBelowRoot = locate(folder, given, path) && lstat(path, &status) == 0 && S_ISREG(status.st_mode);
  int done = real(folder, given, flags);
  if (isBelowRoot && done == 0) notePath(UNLINK, status.st_ino, status.st_nlink - 1, path, NULL);
  return done;
}

int unlink(const char *path) {
  return unlinkat(AT_FDCWD, path, 0);
}

// --- mappings ---

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
  struct stat status;
  char path[PATH_MAX];
  if (fd >= 0 && (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0 && isTracked(fd, &status, path)) notePath(MAP, status.st_ino, 0, path, NULL);
  if (real == NULL) return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
  return real(address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap64(address, length, protection, flags, fd, offset);
}
