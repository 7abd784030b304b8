// Runs a program like a hardened service, with one facility denied to it and its descendants. Requires Linux; mdwe requires 6.3.
//
//   denial mdwe PROGRAM …      written memory must not become executable (systemd's MemoryDenyWriteExecute)
//   denial netlink PROGRAM …   no netlink sockets (systemd's RestrictAddressFamilies without AF_NETLINK)
//
// Exits with 125 if this kernel cannot deny it, 126 for invalid arguments, 127 if the program cannot be started.

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SET_MDWE 65
#define MDWE_REFUSE_EXEC_GAIN 1UL

static int refuse_netlink(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char **words) {
  if (count < 3) return 126;
  int refused;
  if (strcmp(words[1], "mdwe") == 0) refused = prctl(SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
  else if (strcmp(words[1], "netlink") == 0) refused = refuse_netlink();
  else return 126;
  if (refused != 0) return 125;
  execvp(words[2], words + 2);
  return 127;
}
