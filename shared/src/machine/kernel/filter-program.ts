import { callNumber, firstUnknownCall, type Processor, type SystemCall } from "./syscall-numbers.ts";

/**
 * A call that is refused, always or depending on one argument, or referred to the filter's
 * listener.
 */
export type RefusedCall = {
  readonly call: SystemCall;
  readonly errno: number | "asked";
  /**
   * Refused only where the argument's lower word, masked, is (or, with `others`, is not) one of the
   * values.
   */
  readonly when?: {
    readonly argument: number;
    readonly mask?: number;
    readonly values: readonly number[];
    readonly refuse: "these" | "others";
  };
};

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const load = 0x20;
const and = 0x54;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const answer = 0x06;

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const withErrno = 0x00050000;
const askListener = 0x7fc00000;
const noSuchCall = withErrno | 38;

/**
 * Offsets in `struct seccomp_data`; both processors are little-endian, so an argument's lower word
 * comes first.
 */
const numberOffset = 0;
const architectureOffset = 4;
const argumentsOffset = 16;

const architectures: Readonly<Record<Processor, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/**
 * A seccomp program (array of `struct sock_filter`) that fails refused calls with their error and
 * allows everything else. A call with another processor's numbers (i386 on x86-64) ends the
 * process; calls newer than our table, and those of x32, fail as nonexistent.
 */
export function filterProgram(processor: Processor, refusals: readonly RefusedCall[]): Uint8Array<ArrayBuffer> {
  const program: readonly Instruction[] = [
    [load, 0, 0, architectureOffset],
    [jumpIfEqual, 1, 0, architectures[processor]],
    [answer, 0, 0, killProcess],
    [load, 0, 0, numberOffset],
    [jumpIfAtLeast, 0, 1, firstUnknownCall],
    [answer, 0, 0, noSuchCall],
    ...refusals.flatMap((refusal) => {
      const number = callNumber(refusal.call, processor);
      return number === undefined ? [] : refuse(number, refusal);
    }),
    [answer, 0, 0, allow],
  ];
  return encode(program);
}

/** Expects the call's number in the accumulator, and leaves it there for the next refusal. */
function refuse(number: number, { errno, when }: RefusedCall): Instruction[] {
  const error: Instruction = [answer, 0, 0, errno === "asked" ? askListener : withErrno | errno];
  if (when === undefined) return [[jumpIfEqual, 0, 1, number], error];
  const { argument, mask = 0xffffffff, values, refuse } = when;
  // After the comparisons come the answer and the reload of the number.
  const test = values.map((value, index): Instruction => {
    const left = values.length - 1 - index;
    if (refuse === "these") return [jumpIfEqual, left, left === 0 ? 1 : 0, value];
    return [jumpIfEqual, left + 1, 0, value];
  });
  const body: Instruction[] = [[load, 0, 0, argumentsOffset + 8 * argument], [and, 0, 0, mask], ...test, error];
  return [[jumpIfEqual, 0, body.length + 1, number], ...body, [load, 0, 0, numberOffset]];
}

function encode(program: readonly Instruction[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, operand], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, operand, true);
  });
  return new Uint8Array(view.buffer);
}
