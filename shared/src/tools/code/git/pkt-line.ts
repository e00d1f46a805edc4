import { AppError } from "../../../core/errors.ts";

/** A packet of git's protocol: its bytes, or the mark that ends a section (`delimiter`) or a message (`flush`). */
export type Packet = Uint8Array | "flush" | "delimiter";

const headBytes = 4;

/** A message of lines in two sections, the command with its capabilities and its arguments, as version 2 of the protocol wants it. */
export function commandText(command: string, args: readonly string[]): string {
  const line = (text: string) => `${(text.length + headBytes + 1).toString(16).padStart(headBytes, "0")}${text}\n`;
  return `${line(`command=${command}`)}0001${args.map(line).join("")}0000`;
}

/** The packets of an answer, one after the other. Throws `unavailable` for what is cut off, no packet, or the server's complaint. */
export function* packetsOf(bytes: Uint8Array): Generator<Packet> {
  for (let at = 0; at < bytes.length; ) {
    const head = Buffer.from(bytes.subarray(at, at + headBytes)).toString("latin1");
    const length = /^[0-9a-f]{4}$/i.test(head) ? Number.parseInt(head, 16) : Number.NaN;
    if (length === 0 || length === 1) {
      at += headBytes;
      yield length === 0 ? "flush" : "delimiter";
      continue;
    }
    const packet = bytes.subarray(at + headBytes, at + length);
    if (!(length >= headBytes) || packet.length !== length - headBytes)
      throw new AppError("unavailable", "The server's answer is cut off, or is not git's.");
    at += length;
    if (textOf(packet).startsWith("ERR "))
      throw new AppError("unavailable", `The server says: ${textOf(packet).slice(4, 304)}`);
    yield packet;
  }
}

/** A packet's text in one line, without its end; of a long one its beginning. */
export function textOf(packet: Uint8Array): string {
  return Buffer.from(packet.subarray(0, 2000))
    .toString("utf8")
    .replace(/\n$/, "")
    .replaceAll(/\p{Cc}/gu, " ");
}
