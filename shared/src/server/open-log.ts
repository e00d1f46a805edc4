import pino, { type Logger } from "pino";

/** What JSON leaves as it is and a terminal obeys or hides: C1 controls, delete, line separators, the bidirectional controls. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A log of one JSON object a line: no text from outside can begin a line of its own, or be obeyed by a terminal the log is shown in. */
export function openLog(name: string, write: (line: string) => void): Logger {
  return pino(
    { name, redact: ["apiKey", "token", "headers.authorization"] },
    { write: (line: string) => write(line.replace(obeyed, escaped)) },
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
