/**
 * Turns an agent's output into the pieces sent to a reader: in order, each once, and none that the
 * final reply lacks.
 */
export interface WrittenText {
  /** A streamed piece of the current reply: the text to send now, possibly none. */
  piece(text: string, at: number): string;
  /** The complete current reply: the part that was not sent yet. */
  reply(text: string): string;
  /** The final answer: the part that was not sent as the last reply. */
  answer(text: string): string;
}

const between = "\n\n";

/** Nothing sent so far. */
export function writtenText(): WrittenText {
  let sentAny = false;
  let sent = "";
  let last = "";
  /** The current attempt at the reply, up to the first gap in its pieces. */
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
      // A retried reply may differ from the part that was sent.
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
