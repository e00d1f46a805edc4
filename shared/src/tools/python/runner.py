# Runs code as __main__: once, from the whole of standard input; call after call in one interpreter;
# or each time in a fork of one that is kept.
import sys

# Nothing of ours comes from the workspace, where a name may be that of a module.
workspace_first = sys.path.pop(0)
import base64, json, linecache, os, signal, traceback, types


def main():
    requests = os.dup(0)
    become_empty(0, os.O_RDONLY)
    mode = sys.argv[1]
    sys.argv = [""]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    source = keep(requests) if mode == "kept" else None
    sys.path.insert(0, workspace_first)
    marks = os.dup(2) if mode == "session" else None
    # One pipe, which keeps the order of what is printed.
    os.dup2(1, 2)
    if mode == "session":
        return serve(os.fdopen(requests, "rb"), module, marks)
    if mode == "once":
        with os.fdopen(requests, "rb") as whole:
            source = whole.read()
    if source is not None:
        sys.exit(run(source.decode(), "<python_execute>", module))


def become_empty(descriptor, flags):
    nothing = os.open(os.devnull, flags)
    os.dup2(nothing, descriptor)
    os.close(nothing)


class Unheld:
    """A program that may be interrupted at any time, for a process that does nothing else."""

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


class Held:
    """Lets interrupts reach the programs alone: one that comes too early meets the next program, and
    none gets into our own work."""

    def __init__(self):
        self.waits = False
        self.theirs = signal.default_int_handler
        signal.signal(signal.SIGINT, self.note)

    def note(self, *_):
        self.waits = True

    def __enter__(self):
        signal.signal(signal.SIGINT, self.theirs)
        waits, self.waits = self.waits, False
        try:
            if waits:
                signal.raise_signal(signal.SIGINT)
        except BaseException:
            self.hold()
            raise

    def __exit__(self, *_):
        self.hold()

    def hold(self):
        # What the program has set stays, for the next one. It is None where C has set it.
        if signal.getsignal(signal.SIGINT) != self.note:
            self.theirs = signal.signal(signal.SIGINT, self.note) or signal.default_int_handler


def serve(requests, module, marks):
    count = 0
    held = Held()
    while line := requests.readline():
        request = json.loads(line)
        if request["interrupted"]:
            held.waits = False
        count += 1
        os.environ.update(request["variables"])
        try:
            status = run(base64.b64decode(request["code"]).decode(), "<python_execute %d>" % count, module, held)
        except KeyboardInterrupt:
            held.hold()
            status = 130
        finish(request["token"], status, marks)


def run(source, name, module, held=Unheld()):
    # Lets tracebacks show the lines.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
        with held:
            exec(compile(source, name, "exec"), module.__dict__)
        return 0
    except SystemExit as stop:
        if stop.code is None:
            return 0
        if isinstance(stop.code, int):
            return stop.code & 255
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException as error:
        traceback.print_exception(type(error), error, theirs(error.__traceback__))
        return 130 if isinstance(error, KeyboardInterrupt) else 1


def theirs(frames):
    ours = [run.__code__, Held.__enter__.__code__, Held.__exit__.__code__, Held.hold.__code__]
    while frames is not None and frames.tb_frame.f_code in ours:
        frames = frames.tb_next
    return frames


def finish(token, status, marks):
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            pass
    os.write(1, ("\x1e%s:%s\x1e" % (token, status)).encode())
    os.write(marks, ("\x1e%s:\x1e" % token).encode())


def keep(requests):
    """Returns for each request in a fork, with the code to run there, and at their end in the kept
    process.

    The kept process is the first of its namespace: it gets what the forks orphan, and the kernel
    lets none of them signal it. It keeps itself from being looked into and its descriptors from its
    forks, and has read nothing that they could have written.
    """
    import ctypes, gc, resource, select

    if os.getpid() != 1:
        sys.exit("An interpreter that is kept has to be the first process of a namespace.")
    set_process = ctypes.CDLL(None).prctl
    dumpable = 4
    if set_process(dumpable, 0, 0, 0, 0) != 0:
        sys.exit("This process could be looked into.")
    # Fails at once where the kernel or Python is too old.
    os.close(os.pidfd_open(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    become_empty(1, os.O_WRONLY)
    nothing = left_behind()
    # A fork that ends does not go through our objects, which would copy their memory.
    gc.collect()
    gc.freeze()
    while True:
        header = read_all(requests, 12)
        if header is None:
            return None
        cpu_seconds = int.from_bytes(header[:4], "little")
        source = read_all(requests, int.from_bytes(header[4:8], "little"))
        variables = read_all(requests, int.from_bytes(header[8:], "little"))
        (output, own_output), (errors, own_errors) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            become_empty(0, os.O_RDONLY)
            os.dup2(own_output, 1)
            os.dup2(own_errors, 2)
            os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            set_process(dumpable, 1, 0, 0, 0)
            come_home()
            os.environ.update(json.loads(variables))
            return source
        os.close(own_output)
        os.close(own_errors)
        tell(answers, b"b")
        status = attend(child, {output: b"o", errors: b"e"}, answers, select)
        tell(answers, b"c" if left_behind() == nothing else b"d", status.to_bytes(4, "little"))


def come_home():
    """The home is the workspace, whose packages the kept process did not look for."""
    import site

    os.environ["HOME"] = os.getcwd()
    site.USER_BASE = site.USER_SITE = None
    if not site.ENABLE_USER_SITE or not os.path.isdir(site.getusersitepackages()):
        return
    systems = [path for path in sys.path if path.endswith(("/site-packages", "/dist-packages"))]
    sys.path = [path for path in sys.path if path not in systems]
    site.addusersitepackages(set(sys.path))
    sys.path += systems
    site.execusercustomize()


def attend(child, streams, answers, select):
    """Passes on what the child and its children write until it ends; ends them with it."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (*streams, ended):
        poll.register(descriptor, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if ended in ready:
            break
        for descriptor in ready:
            data = os.read(descriptor, 65536)
            if data:
                tell(answers, streams[descriptor], data)
            else:
                poll.unregister(descriptor)
    os.close(ended)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    end_others()
    for descriptor, kind in streams.items():
        while data := os.read(descriptor, 65536):
            tell(answers, kind, data)
        os.close(descriptor)
    return code if code >= 0 else 128 - code


def end_others():
    """One call kills them all: none can fork its way out."""
    try:
        os.kill(-1, 9)
        while True:
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def left_behind():
    """What outlives processes, apart from the workspace, which may be mounted below /tmp."""
    found = [open("/proc/sysvipc/" + kind).read() for kind in ("shm", "sem", "msg")]
    try:
        for top in ("/tmp", "/dev/shm"):
            device = os.lstat(top).st_dev
            for path, folders, files in os.walk(top):
                found.append((path, os.lstat(path).st_mode, sorted(folders), sorted(files)))
                folders[:] = [name for name in folders if os.lstat(os.path.join(path, name)).st_dev == device]
    except OSError as closed:
        found.append(closed)
    return found


def read_all(descriptor, length):
    data = b""
    while len(data) < length:
        more = os.read(descriptor, length - len(data))
        if not more:
            return None
        data += more
    return data


def tell(answers, kind, data=b""):
    rest = memoryview(kind + len(data).to_bytes(4, "little") + data)
    while rest:
        rest = rest[os.write(answers, rest) :]


main()
