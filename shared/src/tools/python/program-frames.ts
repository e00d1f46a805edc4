/**
 * What a kept interpreter says: a program has begun, wrote to an output, or has ended, leaving
 * nothing behind (`clean`) or something that the next one would find.
 */
export type ProgramFrame =
  | { readonly kind: "begun" }
  | { readonly kind: "stdout" | "stderr"; readonly bytes: Uint8Array }
  | { readonly kind: "ended"; readonly exitCode: number; readonly isClean: boolean };

/** The kind as one letter, and the length of what follows. */
const headerBytes = 5;

/** Reads the frames of an output until it ends. */
export async function readFrames(
  output: ReadableStream<Uint8Array>,
  take: (frame: ProgramFrame) => void,
): Promise<void> {
  let held = Buffer.alloc(0);
  for await (const chunk of output) {
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    while (held.length >= headerBytes) {
      const end = headerBytes + held.readUInt32LE(1);
      if (held.length < end) break;
      take(frameOf(String.fromCharCode(held[0] ?? 0), Uint8Array.from(held.subarray(headerBytes, end))));
      held = held.subarray(end);
    }
  }
}

function frameOf(letter: string, bytes: Uint8Array): ProgramFrame {
  if (letter === "b") return { kind: "begun" };
  if (letter === "o" || letter === "e") return { kind: letter === "o" ? "stdout" : "stderr", bytes };
  return { kind: "ended", exitCode: Buffer.from(bytes).readUInt32LE(0), isClean: letter === "c" };
}

/**
 * A program for a kept interpreter: its processor time in seconds, its length and that of its
 * variables, itself, and the variables as JSON.
 */
export function programRequest(
  code: string,
  cpuSeconds: number,
  variables: Readonly<Record<string, string>>,
): Uint8Array {
  const source = Buffer.from(code);
  const own = Buffer.from(JSON.stringify(variables));
  const header = Buffer.alloc(12);
  header.writeUInt32LE(cpuSeconds, 0);
  header.writeUInt32LE(source.length, 4);
  header.writeUInt32LE(own.length, 8);
  return Buffer.concat([header, source, own]);
}
