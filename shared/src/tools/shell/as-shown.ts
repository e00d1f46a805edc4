/** Of a line that was drawn more often, the first and the last state are kept. */
const mostStates = 4;

const unseen = "[terminal sequences, such as colours, are left out; cat -v shows them]";

/**
 * An output for a model: as a terminal leaves it, and with the places in files of the workspace, as
 * a traceback names them, under the paths that the tools take instead of long ones.
 */
export function shownFrom(root: string): (output: string) => string {
  const path = RegExp.escape(root);
  const place = new RegExp(
    String.raw`(?<=File ")${path}/(?=[^"\n]{1,500}", line \d)|(?:file://)?${path}/(?=[^\s"'():]{1,500}:\d)`,
    "g",
  );
  return (output) => asShown(output).replaceAll(place, "");
}

/**
 * An output as a terminal leaves it, for a model: without colours and moves of the cursor, and of a
 * line that was drawn again and again, as a progress bar, the first and the last state. What is
 * left out is said, since a program's output may be what is being tested.
 */
export function asShown(output: string): string {
  const plain = Bun.stripANSI(output);
  const text = plain.includes("\r") ? plain.split("\n").map(lastStates).join("\n") : plain;
  if (plain === output) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${unseen}`;
}

function lastStates(line: string): string {
  const end = line.endsWith("\r") ? "\r" : "";
  const states = line.split("\r").filter((state) => state.trim() !== "");
  const [first] = states;
  if (states.length <= mostStates || first === undefined) return line;
  return `${first}\n[… ${states.length - 2} more states of this line, each drawn over the one before by \\r …]\n${states.at(-1)}${end}`;
}
