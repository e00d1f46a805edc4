import { safeText } from "./safe-text.ts";
import { painted } from "./style.ts";
import type { Terminal } from "./terminal.ts";

/**
 * A terminal that nothing controls but our own colours, whatever a command forgets to escape: what
 * others wrote is in nearly all that is shown. JSON stays the same value.
 */
export function guardedTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    out: (text) => terminal.out(shown(text)),
    say: (line) => terminal.say(shown(line)),
    ask: (question, options) => terminal.ask(shown(question), options),
  };
}

/** The text without other controls; the pieces between are colours. */
function shown(text: string): string {
  return text
    .split(painted)
    .map((piece, at) => (at % 2 === 0 ? safeText(piece) : piece))
    .join("");
}
