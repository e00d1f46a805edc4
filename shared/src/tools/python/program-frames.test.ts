import { expect, test } from "bun:test";
import { type ProgramFrame, programRequest, readFrames } from "./program-frames.ts";

/** A frame as the interpreter writes it. */
function frame(letter: string, content: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const exit = (code: number) => Buffer.from(Uint32Array.of(code).buffer);
const written = Buffer.concat([
  frame("b", Buffer.alloc(0)),
  frame("o", Buffer.from("out")),
  frame("e", Buffer.from("é")),
  frame("c", exit(0)),
  frame("b", Buffer.alloc(0)),
  frame("d", exit(300)),
]);

async function read(pieces: readonly Uint8Array[]) {
  const frames: ProgramFrame[] = [];
  await readFrames(new Blob(pieces.map((piece) => new Uint8Array(piece))).stream(), (one) => void frames.push(one));
  return frames;
}

test("frames are read however the output is cut, and one that never ends is none", async () => {
  const bytes = (text: string) => Uint8Array.from(Buffer.from(text));
  const frames = [
    { kind: "begun" },
    { kind: "stdout", bytes: bytes("out") },
    { kind: "stderr", bytes: bytes("é") },
    { kind: "ended", exitCode: 0, isClean: true },
    { kind: "begun" },
    { kind: "ended", exitCode: 300, isClean: false },
  ] as const;
  expect(await read([written])).toEqual([...frames]);
  for (let at = 1; at < written.length; at++) {
    const found: ProgramFrame[] = [];
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of [written.subarray(0, at), written.subarray(at)]) controller.enqueue(Uint8Array.from(piece));
        controller.close();
      },
    });
    await readFrames(pieces, (one) => void found.push(one));
    expect(found).toEqual([...frames]);
  }
  expect(await read([written.subarray(0, -1)])).toEqual(frames.slice(0, -1));
});

test("a request has the program's processor time, itself and its variables, counted in bytes", () => {
  const request = Buffer.from(programRequest("print('é')", 7, { TRACE: "ü" }));
  const [code, variables] = [Buffer.from("print('é')"), Buffer.from('{"TRACE":"ü"}')];
  expect([0, 4, 8].map((at) => request.readUInt32LE(at))).toEqual([7, code.length, variables.length]);
  expect(request.subarray(12).toString()).toBe(`${code}${variables}`);
});
