import type { Command } from "commander";

/** The shells with a completion script. */
export const shells = ["bash", "zsh", "fish"] as const;

/** The words that can follow given words of the command line. */
type CompletionPoint = { readonly words: string; readonly next: readonly string[] };

/**
 * A script that completes commands and options in this shell. It is self-contained, so that a key
 * press starts no process.
 */
export function completionScript(shell: (typeof shells)[number], program: Command): string {
  const places = placesOf(program, []);
  if (shell === "fish") return fishScript(program.name(), places);
  const ownWords = bashScript(program.name(), places);
  return shell === "bash" ? ownWords : `autoload -U +X bashcompinit && bashcompinit\n${ownWords}`;
}

function placesOf(command: Command, words: readonly string[]): CompletionPoint[] {
  const options = command.createHelp().visibleOptions(command);
  const next = [
    ...command.commands.map((one) => one.name()),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long])),
  ];
  const below = command.commands.flatMap((one) => placesOf(one, [...words, one.name()]));
  return [{ words: words.join(" "), next }, ...below];
}

function bashScript(name: string, places: readonly CompletionPoint[]): string {
  const cases = places.map(({ words, next }) => `    "${words}") next="${next.join(" ")}" ;;`);
  return `_${name}() {
  local at="" word next try
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    try="\${at:+$at }$word"
    case "$try" in ${commandsOf(places)}) at="$try" ;; esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`;
}

function commandsOf(places: readonly CompletionPoint[]): string {
  return places.flatMap(({ words }) => (words === "" ? [] : [`"${words}"`])).join("|");
}

function fishScript(name: string, places: readonly CompletionPoint[]): string {
  const tops = places.filter(({ words }) => words !== "" && !words.includes(" ")).map(({ words }) => words);
  const lines = places.flatMap(({ words, next }) => {
    const [first, second] = words.split(" ");
    const seen =
      second === undefined
        ? `__fish_seen_subcommand_from ${first}`
        : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    const when = words === "" ? `not __fish_seen_subcommand_from ${tops.join(" ")}` : seen;
    return next.map((one) =>
      one.startsWith("--")
        ? `complete -c ${name} -n '${when}' -l ${one.slice(2)}`
        : `complete -c ${name} -n '${when}' -a ${one}`,
    );
  });
  return `${lines.join("\n")}\n`;
}
