/*
 * Loaded into a process with LD_PRELOAD. Logs what the process changes in the files and folders below PC_DIR, in one order, to PC_LOG,
 * and makes a disk fail on request:
 *
 *   PC_LIE=all             syncs answer at once and do nothing; with "log", those of a database's log
 *   PC_KILL=n              the process is killed instead of its n-th change or sync
 *   PC_FAIL=sync:n:ERRNO   the n-th sync fails; so does write:n:ERRNO with the n-th write, which then writes nothing
 *   PC_FAIL=short:n        the n-th write writes half of what it is given
 *
 * A record is a struct record, then path, other path and data. A sync is two records, since it covers only what was
 * changed before it began. The index of a log (-shm) is mapped and rebuilt at each start, so it is left out, and so are
 * text logs and sockets, which needn't last.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct record {
  uint32_t length; /* Of the whole record, in bytes. */
  char op;
  char unused[3];
  uint64_t inode;
  uint64_t offset; /* Of a write; the new length of a truncation; what a sync's two records have in common. */
  uint32_t path_length;
  uint32_t other_length;
  uint32_t data_length;
  uint32_t unused_too[3]; /* 48 bytes in all. */
};

enum { NO_FAULT, FAIL_SYNC, FAIL_WRITE, SHORT_WRITE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static int log_fd = -1;
static const char *lies;
static long kill_at, changes, syncs, writes;
static int fault, fault_errno;
static long fault_at;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_open)(const char *, int, ...);

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static void read_fault(const char *text) {
  char kind[16] = "", name[16] = "";
  if (!text || sscanf(text, "%15[^:]:%ld:%15s", kind, &fault_at, name) < 2) return;
  fault = !strcmp(kind, "sync") ? FAIL_SYNC : !strcmp(kind, "short") ? SHORT_WRITE : FAIL_WRITE;
  fault_errno = strcmp(name, "ENOSPC") ? EIO : ENOSPC;
}

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_open = dlsym(RTLD_NEXT, "open64");
  const char *dir = getenv("PC_DIR"), *path = getenv("PC_LOG");
  if (!dir || !path) return;
  folder_length = strlen(dir);
  memcpy(folder, dir, folder_length + 1);
  int fd = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  /* Out of the way of programs that expect the lowest numbers. */
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 400);
  close(fd);
  lies = getenv("PC_LIE");
  if (getenv("PC_KILL")) kill_at = atol(getenv("PC_KILL"));
  read_fault(getenv("PC_FAIL"));
  /* The faults are for this process, not for its children. */
  unsetenv("PC_KILL");
  unsetenv("PC_FAIL");
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && !strcmp(text + length - end_length, end);
}

static int is_watched(const char *path) {
  if (log_fd < 0 || strncmp(path, folder, folder_length)) return 0;
  if (path[folder_length] != '/' && path[folder_length] != 0) return 0;
  return !ends_with(path, "-shm") && !ends_with(path, ".log") && !ends_with(path, ".sock");
}

/* The path that a call means, which may start at an open folder. */
static const char *path_at(int dir, const char *path, char *buffer) {
  char link[64];
  if (path[0] == '/' || log_fd < 0) return path;
  if (dir == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
  ssize_t length = readlink(link, buffer, PATH_MAX - 1);
  if (length <= 0) return path;
  snprintf(buffer + length, PATH_MAX - length, "/%s", path);
  return buffer;
}

/* The inode of an open file or folder that is watched, or 0; and its path. */
static uint64_t watched_at(int fd, char path[PATH_MAX]) {
  char link[64];
  struct stat found;
  if (log_fd < 0 || fd < 0 || fd == log_fd) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (!is_watched(path) || fstat(fd, &found)) return 0;
  return S_ISREG(found.st_mode) || S_ISDIR(found.st_mode) ? found.st_ino : 0;
}

static uint64_t watched_inode(int fd) {
  char path[PATH_MAX];
  return watched_at(fd, path);
}

static void note(char op, uint64_t inode, uint64_t offset, const char *path, const char *other,
                 const void *data, size_t data_length) {
  struct record head = {.op = op, .inode = inode, .offset = offset};
  head.path_length = path ? strlen(path) : 0;
  head.other_length = other ? strlen(other) : 0;
  head.data_length = data_length;
  head.length = sizeof head + head.path_length + head.other_length + data_length;
  char *bytes = malloc(head.length), *at = bytes + sizeof head;
  memcpy(bytes, &head, sizeof head);
  memcpy(at, path ? path : "", head.path_length);
  memcpy(at += head.path_length, other ? other : "", head.other_length);
  if (data_length) memcpy(at + head.other_length, data, data_length);
  /* One write, so that records of several processes do not mix. */
  if (real_write(log_fd, bytes, head.length) != (ssize_t)head.length) abort();
  free(bytes);
}

/* To be called with the lock held, before something is done that is logged. */
static void count_change(void) {
  changes += 1;
  if (changes == kill_at) {
    note('K', 0, changes, NULL, NULL, NULL, 0);
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

/* How much of a write is to be done: all, half, or nothing with errno set (-1). */
static ssize_t allowed(size_t length) {
  count_change();
  writes += 1;
  if (writes != fault_at) return length;
  if (fault == SHORT_WRITE) return length > 1 ? length / 2 : length;
  if (fault != FAIL_WRITE) return length;
  note('X', 0, writes, NULL, NULL, NULL, 0);
  errno = fault_errno;
  return -1;
}

static ssize_t do_write(int fd, const void *data, size_t length, off_t offset, int is_placed) {
  uint64_t inode = watched_inode(fd);
  if (!inode) return is_placed ? real_pwrite(fd, data, length, offset) : real_write(fd, data, length);
  pthread_mutex_lock(&lock);
  ssize_t done = allowed(length);
  if (done >= 0) {
    done = is_placed ? real_pwrite(fd, data, done, offset) : real_write(fd, data, done);
    if (done > 0 && !is_placed) offset = lseek(fd, 0, SEEK_CUR) - done;
    if (done > 0) note('W', inode, offset, NULL, NULL, data, done);
  }
  pthread_mutex_unlock(&lock);
  return done;
}

static ssize_t do_writev(int fd, const struct iovec *pieces, int count, off_t offset, int placed) {
  size_t length = 0;
  for (int i = 0; i < count; i++) length += pieces[i].iov_len;
  char *data = malloc(length ? length : 1), *at = data;
  for (int i = 0; i < count; i++) {
    memcpy(at, pieces[i].iov_base, pieces[i].iov_len);
    at += pieces[i].iov_len;
  }
  ssize_t done = do_write(fd, data, length, offset, placed);
  free(data);
  return done;
}

ssize_t write(int fd, const void *data, size_t length) { return do_write(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  return do_write(fd, data, length, offset, 1);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  return do_write(fd, data, length, offset, 1);
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  return watched_inode(fd) ? do_writev(fd, pieces, count, 0, 0) : real(fd, pieces, count);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) {
  REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
  if (offset == -1) return writev(fd, pieces, count);
  return watched_inode(fd) ? do_writev(fd, pieces, count, offset, 1)
                           : real(fd, pieces, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t at) {
  return pwritev(fd, pieces, count, at);
}

/* What copies inside the kernel is refused, so that programs copy by hand. */
ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t length,
                        unsigned flags) {
  REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
  if (!watched_inode(out)) return real(in, in_at, out, out_at, length, flags);
  errno = EXDEV;
  return -1;
}
ssize_t sendfile64(int out, int in, off64_t *in_at, size_t length) {
  REAL(ssize_t, "sendfile64", int, int, off64_t *, size_t);
  if (!watched_inode(out)) return real(out, in, in_at, length);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile(int out, int in, off_t *in_at, size_t length) {
  return sendfile64(out, in, in_at, length);
}

int ftruncate64(int fd, off64_t length) {
  REAL(int, "ftruncate64", int, off64_t);
  uint64_t inode = watched_inode(fd);
  if (!inode) return real(fd, length);
  pthread_mutex_lock(&lock);
  count_change();
  int result = real(fd, length);
  if (!result) note('T', inode, length, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int do_sync(int fd, int (*real)(int)) {
  char path[PATH_MAX];
  uint64_t inode = watched_at(fd, path);
  if (!inode) return real(fd);
  if (lies && (!strcmp(lies, "all") || ends_with(path, "-wal"))) return 0;
  pthread_mutex_lock(&lock);
  count_change();
  long number = ++syncs;
  int fails = fault == FAIL_SYNC && number == fault_at;
  note(fails ? 'F' : 'B', inode, number, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  if (fails) {
    errno = fault_errno;
    return -1;
  }
  int result = real(fd);
  pthread_mutex_lock(&lock);
  if (!result) note('S', inode, number, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return do_sync(fd, real);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return do_sync(fd, real);
}

static int do_open(const char *path, int flags, mode_t mode) {
  struct stat found;
  if (!(flags & (O_CREAT | O_TRUNC)) || !is_watched(path)) return real_open(path, flags, mode);
  pthread_mutex_lock(&lock);
  int is_there = !stat(path, &found);
  int changes_it = is_there ? (flags & O_TRUNC) && found.st_size > 0 : flags & O_CREAT;
  if (changes_it) count_change();
  int fd = real_open(path, flags, mode);
  if (fd >= 0 && changes_it && !fstat(fd, &found)) {
    if (is_there) note('T', found.st_ino, 0, NULL, NULL, NULL, 0);
    else note('C', found.st_ino, 0, path, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

#define MODE_OF(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  }

int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  char buffer[PATH_MAX];
  return do_open(path_at(AT_FDCWD, path, buffer), flags, mode);
}
int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  char buffer[PATH_MAX];
  return do_open(path_at(AT_FDCWD, path, buffer), flags, mode);
}
int openat64(int dir, const char *path, int flags, ...) {
  MODE_OF(flags)
  REAL(int, "openat64", int, const char *, int, ...);
  char buffer[PATH_MAX];
  const char *whole = path_at(dir, path, buffer);
  return is_watched(whole) ? do_open(whole, flags, mode) : real(dir, path, flags, mode);
}
int openat(int dir, const char *path, int flags, ...) {
  MODE_OF(flags)
  return openat64(dir, path, flags, mode);
}
int creat(const char *path, mode_t mode) {
  return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int mkdirat(int dir, const char *path, mode_t mode) {
  REAL(int, "mkdirat", int, const char *, mode_t);
  char buffer[PATH_MAX];
  struct stat found;
  const char *whole = path_at(dir, path, buffer);
  if (!is_watched(whole) || !stat(whole, &found)) return real(dir, path, mode);
  pthread_mutex_lock(&lock);
  count_change();
  int result = real(dir, path, mode);
  if (!result && !stat(whole, &found)) note('D', found.st_ino, 0, whole, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int dir, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  char buffer[PATH_MAX];
  struct stat found;
  const char *whole = path_at(dir, path, buffer);
  if (!is_watched(whole) || lstat(whole, &found)) return real(dir, path, flags);
  pthread_mutex_lock(&lock);
  count_change();
  int result = real(dir, path, flags);
  if (!result) note('U', 0, 0, whole, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
int remove(const char *path) {
  int result = unlink(path);
  return result && errno == EISDIR ? rmdir(path) : result;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
  const char *old = path_at(from_dir, from, from_buffer);
  const char *new = path_at(to_dir, to, to_buffer);
  if (!is_watched(old) && !is_watched(new)) return real(from_dir, from, to_dir, to);
  pthread_mutex_lock(&lock);
  count_change();
  int result = real(from_dir, from, to_dir, to);
  if (!result) note('R', 0, 0, old, new, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  REAL(int, "linkat", int, const char *, int, const char *, int);
  char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
  const char *old = path_at(from_dir, from, from_buffer);
  const char *new = path_at(to_dir, to, to_buffer);
  if (!is_watched(new)) return real(from_dir, from, to_dir, to, flags);
  pthread_mutex_lock(&lock);
  count_change();
  int result = real(from_dir, from, to_dir, to, flags);
  if (!result) note('L', 0, 0, old, new, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
