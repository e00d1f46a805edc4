const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfSet = 0x45;
const answer = 0x06;

const allow = 0x7fff0000;
const refuseWithEperm = 0x00050001;
const killProcess = 0x80000000;

const numberOffset = 0;
const architectureOffset = 4;
const x32Bit = 0x40000000;
const ioUringSetup = 425;

const architectures: Readonly<Record<string, { readonly audit: number; readonly socket: number }>> = {
  x64: { audit: 0xc000003e, socket: 41 },
  arm64: { audit: 0xc00000b7, socket: 198 },
};

/**
 * A seccomp program (array of `struct sock_filter`) that refuses every new socket, of whatever family, and io_uring, which could
 * make sockets past it. Pairs (`socketpair`) stay. Undefined on processors we have no numbers for.
 */
export function socketFilter(processor: string): Uint8Array<ArrayBuffer> | undefined {
  const numbers = architectures[processor];
  if (numbers === undefined) return undefined;
  const program: readonly (readonly [code: number, ifTrue: number, ifFalse: number, operand: number])[] = [
    [load, 0, 0, architectureOffset],
    [jumpIfEqual, 1, 0, numbers.audit],
    [answer, 0, 0, killProcess],
    [load, 0, 0, numberOffset],
    [jumpIfSet, 3, 0, x32Bit],
    [jumpIfEqual, 2, 0, numbers.socket],
    [jumpIfEqual, 1, 0, ioUringSetup],
    [answer, 0, 0, allow],
    [answer, 0, 0, refuseWithEperm],
  ];
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, operand], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, operand, true);
  });
  return new Uint8Array(view.buffer);
}
