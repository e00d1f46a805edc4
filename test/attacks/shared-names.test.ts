import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

const tiers = await availableTiers();
const name = `manyhands-${crypto.randomUUID().slice(0, 8)}`;
const system = { PATH: "/usr/local/bin:/usr/bin:/bin" };

/**
 * Outside: System V and POSIX shared memory, a semaphore's file, and abstract sockets for streams
 * and datagrams, all open to everyone.
 */
const outside = `
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
segment = libc.shmget(0, 4096, 0o1666)
os.umask(0)
for path in ("/dev/shm/${name}", "/dev/shm/sem.${name}"):
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o666))
sockets = [socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
for index, one in enumerate(sockets): one.bind("\\0${name}-%d" % index)
sockets[0].listen()
print(segment, flush=True)
sys.stdin.read()
libc.shmctl(segment, 0, None)
for one in sockets:
    one.setblocking(False)
    try: print("REACHED", one.accept() if one is sockets[0] else one.recv(9))
    except BlockingIOError: pass
`;

const inside = `
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_long
def attempt(word, act):
    try: print(word, "REACHED" if act() else "refused")
    except OSError: print(word, "refused")
def connect(kind, index):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.connect("\\0${name}-%d" % index); one.send(b"x")
        return True
def datagram_to():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one: return one.sendto(b"x", "\\0${name}-1")
def through_a_pair(kind):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    other.setblocking(False)
    one.sendto(b"x", "\\0${name}-1")
    try: return not other.recv(9)
    except BlockingIOError: return True
attempt("attach", lambda: libc.shmat(int(sys.argv[1]), None, 0) != -1)
attempt("remove", lambda: libc.shmctl(int(sys.argv[1]), 0, None) == 0)
attempt("shm_open", lambda: libc.shm_open(b"/${name}", os.O_RDWR, 0) != -1)
attempt("sem file", lambda: os.open("/dev/shm/sem.${name}", os.O_RDWR))
attempt("stream", lambda: connect(socket.SOCK_STREAM, 0))
attempt("datagram", lambda: connect(socket.SOCK_DGRAM, 1))
attempt("datagram to", datagram_to)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET): attempt("pair %d" % kind, lambda: through_a_pair(kind))
`;

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  beforeAll(async () => {
    open = await openTier(tier);
  });
  afterAll(() => open.close());

  test("shared memory, semaphores and abstract sockets of others cannot be reached", async () => {
    const holder = Bun.spawn(["python3", "-c", outside], { stdin: "pipe", stdout: "pipe", env: system });
    try {
      const reader = holder.stdout.getReader();
      const segment = new TextDecoder().decode((await reader.read()).value).trim();
      const outcome = await runCommand(
        open.sandbox,
        {
          argv: ["python3", "-c", inside, segment],
          workspace: open.workspace,
          // If processes are counted for all conversations together, other tests use up the default
          // limit.
          limits: { processes: 4096 },
        },
        { signal: AbortSignal.timeout(60_000) },
      );
      expect(outcome).toMatchObject({ stderr: "", exitCode: 0 });
      const words = ["attach", "remove", "shm_open", "sem file", "stream", "datagram", "datagram to"];
      const all = [...words, "pair 1", "pair 2", "pair 5"];
      expect(outcome.stdout.trimEnd().split("\n")).toEqual(all.map((word) => `${word} refused`));
      holder.stdin.end();
      expect((await reader.read()).value).toBeUndefined();
    } finally {
      holder.kill();
      await holder.exited;
      for (const path of [`/dev/shm/${name}`, `/dev/shm/sem.${name}`]) await rm(path, { force: true });
    }
  });
});
