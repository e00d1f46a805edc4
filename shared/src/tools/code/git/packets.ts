import { AppError } from "../../../core/errors.ts";

/**
 * A packet of git's protocol: its bytes, or the mark that ends a section (`delimiter`) or a message
 * (`flush`).
 */
type Packet = Uint8Array | "flush" | "delimiter";

const headBytes = 4;

/**
 * The packets of a response, one after the other. Throws `unavailable` when the response is cut
 * off, malformed, or the server's error message.
 */
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
    if (packetText(packet).startsWith("ERR "))
      throw new AppError("unavailable", `The server says: ${packetText(packet).slice(4, 304)}`);
    yield packet;
  }
}

/** A packet's text on one line, without its line ending; of a long text only the beginning. */
export function packetText(packet: Uint8Array): string {
  return Buffer.from(packet.subarray(0, 2000))
    .toString("utf8")
    .replace(/\n$/, "")
    .replaceAll(/\p{Cc}/gu, " ");
}

/** A line of ASCII as a packet. */
export function packetLine(text: string): string {
  return `${(text.length + headBytes + 1).toString(16).padStart(headBytes, "0")}${text}\n`;
}
