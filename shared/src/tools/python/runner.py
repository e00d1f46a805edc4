# Runs code as __main__: once, from the whole of standard input, or call after call in one interpreter.
import base64, json, linecache, os, sys, traceback, types


def main():
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    mode = sys.argv[1]
    sys.argv = [""]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    if mode == "once":
        sys.exit(run(requests.read().decode(), "<python_execute>", module))
    serve(requests, module)


def serve(requests, module):
    count = 0
    while True:
        token = None
        try:
            line = requests.readline()
            if not line:
                return
            request = json.loads(line)
            token = request["token"]
            count += 1
            status = run(base64.b64decode(request["code"]).decode(), "<python_execute %d>" % count, module)
        except KeyboardInterrupt:
            if token is None:
                continue
            status = 130
        finish(token, status)


def run(source, name, module):
    # Lets tracebacks show the lines.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
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
    while frames is not None and frames.tb_frame.f_code is run.__code__:
        frames = frames.tb_next
    return frames


def finish(token, status):
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            pass
    os.write(1, ("\x1e%s:%s\x1e" % (token, status)).encode())
    os.write(2, ("\x1e%s:\x1e" % token).encode())


main()
