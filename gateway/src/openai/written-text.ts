/**
 * Turns what an agent writes into the pieces a reader is sent: in order, each once, and never one
 * that a reply turns out not to have.
 */
export interface WrittenText {
  /** A piece of the present reply, as it comes; empty where it cannot be sent yet. */
  piece(text: string, at: number): string;
  /** The present reply, whole: what of it is still to be sent. */
  reply(text: string): string;
  /** The end, with the answer: what of it was not sent as the last reply. */
  answer(text: string): string;
}

const between = "\n\n";

/** Nothing sent so far. */
export function writtenText(): WrittenText {
  let sentAny = false;
  let sent = "";
  let last = "";
  /** The present attempt at the reply, as far as its pieces are there without a gap. */
  let attempt = "";
  const send = (text: string): string => {
    if (text === "") return "";
    const gap = sentAny && sent === "" ? between : "";
    sentAny = true;
    sent += text;
    return gap + text;
  };
  return {
    piece(text, at) {
      if (at === 0) attempt = "";
      if (at !== attempt.length) return "";
      attempt += text;
      // A reply begun anew may be another than the one of which a part was sent.
      return attempt.startsWith(sent) ? send(attempt.slice(sent.length)) : "";
    },
    reply(text) {
      const whole = text.startsWith(sent);
      const rest = whole ? text.slice(sent.length) : text;
      if (!whole) sent = "";
      const told = send(rest);
      last = text;
      sent = "";
      attempt = "";
      return told;
    },
    answer(text) {
      if (sent !== "" && text.startsWith(sent)) return send(text.slice(sent.length));
      sent = "";
      return text.trim() === last.trim() ? "" : send(text);
    },
  };
}
