import { type SupervisorEvent, troubleText } from "../supervisor/supervise.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Tells the person about failing servers, each reason of a server once in a row. */
export function troubleTeller(
  terminal: Pick<Terminal, "say">,
): (event: Exclude<SupervisorEvent, { type: "server-up" }>) => void {
  const told = new Map<string, string>();
  return (event) => {
    const { type, name, reason } = event;
    if (type === "server-given-up" || told.get(name) !== reason) terminal.say(troubleText(event));
    told.set(name, reason);
  };
}
