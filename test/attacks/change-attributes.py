"""
Tries to change mode, owner and times of each named file in every way there is, and prints each way that did: `chmod absolute PATH`. With one file and
`outcomes` before it, prints what became of each call instead: `chmod absolute done`.
"""
import ctypes, errno, os, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH = -100, 0x100, 0x1000
O_PATH = 0o10000000
numbers = eval(sys.argv[1])
times = (ctypes.c_long * 4)(1, 0, 1, 0)
me, group = os.getuid(), os.getgid()


def call(name, *words):
    if numbers.get(name) is None:
        return
    made = [word.encode() if isinstance(word, str) else ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    result = libc.syscall(ctypes.c_long(numbers[name]), *made)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "done"


def by_path(path, folder=AT_FDCWD):
    """Each call that takes a path; those that take no folder go without where one is needed."""
    plain = folder == AT_FDCWD
    yield "fchmodat", (folder, path, 0o777)
    yield "fchmodat2", (folder, path, 0o777, 0)
    yield "fchownat", (folder, path, me, group, 0)
    yield "fchownat", (folder, path, -1, -1, AT_SYMLINK_NOFOLLOW)
    yield "utimensat", (folder, path, None, 0)
    yield "utimensat", (folder, path, times, AT_SYMLINK_NOFOLLOW)
    yield "futimesat", (folder, path, times)
    if plain:
        yield "chmod", (path, 0o777)
        yield "chown", (path, me, group)
        yield "lchown", (path, me, group)
        yield "utime", (path, times)
        yield "utimes", (path, times)


def by_descriptor(held):
    yield "fchmod", (held, 0o777)
    yield "fchown", (held, me, group)
    yield "utimensat", (held, None, times, 0)
    yield "futimesat", (held, None, times)
    yield "fchmodat2", (held, "", 0o777, AT_EMPTY_PATH)
    yield "fchownat", (held, "", me, group, AT_EMPTY_PATH)
    yield "utimensat", (held, "", times, AT_EMPTY_PATH)


def opened(path):
    for how, flags in ("by name", O_PATH), ("to read", os.O_RDONLY):
        try:
            yield how, os.open(path, flags)
        except OSError:
            pass


def every_way(victim):
    folder, name = os.path.split(victim)
    link = "link-" + name
    if not os.path.lexists(link):
        os.symlink(victim, link)
    yield "absolute", by_path(victim)
    yield "climbing", by_path(os.path.relpath(victim))
    yield "by link", by_path(link)
    yield "by root", by_path("/proc/self/root" + victim)
    for _, at in opened(folder):
        yield "from a folder", by_path(name, at)
        yield "from a folder in proc", by_path(f"/proc/self/fd/{at}/{name}")
    for how, held in opened(victim):
        yield "held " + how, by_descriptor(held)
        yield "held in proc", by_path(f"/proc/self/fd/{held}")
        yield "held in its own number", by_path(f"/proc/{os.getpid()}/fd/{held}")
        yield "held in dev", by_path(f"/dev/fd/{held}")
    here = os.getcwd()
    try:
        os.chdir(folder)
    except OSError:
        return
    yield "beside", by_path(name)
    yield "beside in proc", by_path("/proc/self/cwd/" + name)
    os.chdir(here)


def flip(victim, seconds):
    """What is asked for is inside when it is looked at, and outside a moment later: by a link, and
    in memory.
    """
    text = ctypes.create_string_buffer(4096)
    inside, outside = b"own-file".ljust(len(victim), b"\0"), victim.encode()
    open("own-file", "w").close()
    done = threading.Event()

    def turn():
        while not done.is_set():
            for target in ("own-file", victim):
                os.symlink(target, "next")
                os.rename("next", "flipped")
            ctypes.memmove(text, inside, len(inside))
            ctypes.memmove(text, outside, len(outside))

    other = threading.Thread(target=turn)
    other.start()
    threading.Timer(seconds, done.set).start()
    while not done.is_set():
        call("fchmodat", AT_FDCWD, "flipped", 0o777)
        call("fchmodat", AT_FDCWD, text, 0o777)
    other.join()


def changed_at(path):
    """When anything of it was changed last, where it can be seen."""
    try:
        return os.stat(path).st_ctime_ns
    except OSError:
        return None


if sys.argv[2] == "outcomes":
    for way, calls in every_way(sys.argv[3]):
        for name, words in calls:
            print(name, way, call(name, *words))
    sys.exit()
for victim in sys.argv[2:]:
    last = changed_at(victim)
    for way, calls in every_way(victim):
        for name, words in calls:
            call(name, *words)
            if changed_at(victim) != last:
                print(name, way, victim)
                last = changed_at(victim)
    flip(victim, 0.5)
    if changed_at(victim) != last:
        print("flipped", victim)
