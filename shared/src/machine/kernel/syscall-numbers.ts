/** The processors whose call numbers we have, as `process.arch` names them. */
export type Processor = "x64" | "arm64";

/** The processor, if we have its call numbers. */
export function knownProcessor(processor: string): Processor | undefined {
  return processor === "x64" || processor === "arm64" ? processor : undefined;
}

type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/**
 * Numbers of the system calls that a filter names or we make ourselves; undefined where a processor
 * has no such call. From 424 on both processors use the same numbers.
 */
const numbers = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bind: [49, 200],
  bpf: [321, 280],
  capset: [126, 91],
  chmod: [90, undefined],
  chown: [92, undefined],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone3: [435, 435],
  clone: [56, 220],
  connect: [42, 203],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  fchmod: [91, 52],
  fchmodat2: [452, 452],
  fchmodat: [268, 53],
  fchown: [93, 55],
  fchownat: [260, 54],
  file_setattr: [469, 469],
  finit_module: [313, 273],
  fremovexattr: [199, 16],
  fsconfig: [431, 431],
  fsetxattr: [190, 7],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  futimesat: [261, undefined],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  ioprio_set: [251, 30],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lchown: [94, undefined],
  listen: [50, 201],
  lookup_dcookie: [212, 18],
  lremovexattr: [198, 15],
  lsetxattr: [189, 6],
  migrate_pages: [256, 238],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  mq_getsetattr: [245, 185],
  mq_notify: [244, 184],
  mq_open: [240, 180],
  mq_timedreceive: [243, 183],
  mq_timedsend: [242, 182],
  mq_unlink: [241, 181],
  msgctl: [71, 187],
  msgget: [68, 186],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  openat2: [437, 437],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  prlimit64: [302, 261],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  removexattr: [197, 14],
  removexattrat: [466, 466],
  request_key: [249, 218],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  seccomp: [317, 277],
  semctl: [66, 191],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  setdomainname: [171, 162],
  setfsgid: [123, 152],
  setfsuid: [122, 151],
  setgroups: [116, 159],
  sethostname: [170, 161],
  setns: [308, 268],
  setpriority: [141, 140],
  settimeofday: [164, 170],
  setxattr: [188, 5],
  setxattrat: [463, 463],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmdt: [67, 197],
  shmget: [29, 194],
  socket: [41, 198],
  socketpair: [53, 199],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  utime: [132, undefined],
  utimensat: [280, 88],
  utimes: [235, undefined],
  vhangup: [153, 58],
} as const satisfies Readonly<Record<string, Numbers>>;

/** A system call by the kernel's name for it. */
export type SystemCall = keyof typeof numbers;

/** The names of all calls above. */
export const systemCalls = Object.keys(numbers) as readonly SystemCall[];

/**
 * One more than the newest call we have reviewed (Linux 6.18, both processors); the numbers of x32
 * are above it too.
 */
export const firstUnknownCall = 470;

/** The call's number; undefined where the processor has no such call. */
export function callNumber(call: SystemCall, processor: Processor): number | undefined {
  return numbers[call][processor === "x64" ? 0 : 1];
}
