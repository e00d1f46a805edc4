"""Tries each call that the sandbox refuses, by its number, and prints what became of it as JSON:
{"name": "EPERM"}.
"""
import ctypes, errno, json, os, signal, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(argument) for argument in arguments])
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "done"


def in_child(act):
    """What a child that does it ends with: a call may end it, or make two of it."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "done"


def i386_getpid():
    """`mov eax, 20; int 0x80; ret`: getpid by the numbers of i386."""
    import mmap

    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


attempts = json.loads(sys.argv[1])
outcome = {name: call(*words) for name, words in attempts.items()}
if os.uname().machine == "x86_64":
    outcome["i386"] = in_child(i386_getpid)
print(json.dumps(outcome))
