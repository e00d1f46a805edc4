/** A tool call a script makes. */
export type ScriptCall = { readonly name: string; readonly args: { readonly [parameter: string]: unknown } };

/** What is said and called in one turn. A turn without calls is the last one of a task. */
export type Turn = { readonly say: string; readonly calls: readonly ScriptCall[] };

/** What a script can see besides the results of its calls. */
export type Scene = {
  readonly tools: ReadonlySet<string>;
  /** The message that the script was found by, whole. */
  readonly text: string;
};

/**
 * A part of a script: yields turns, is given the results of each turn's calls in their order, and
 * comes to something.
 */
export type Acting<Outcome> = Generator<Turn, Outcome, readonly string[]>;

/**
 * A part the rehearsal model knows by heart, written as straight-line code. It is played from its
 * beginning at every request, over the results in the request, so it must depend on nothing but the
 * scene and those results.
 */
export type Script = {
  /** One line for people: what the task is. Parts of a task that is told already have none. */
  readonly title?: string;
  /** The words of the task, found anywhere in a user's message. */
  readonly task: string;
  /**
   * The one tool the answer is wanted by, where a flow has something decided; a script without it
   * is never asked for that.
   */
  readonly decides?: string;
  /** Its outcome is the last turn; what needs no tools is that turn alone. */
  play(scene: Scene): Acting<Turn> | Turn;
};

/** The last turn: by `terminate` where that is offered, else as plain text. */
export function finish(scene: Pick<Scene, "tools">, status: "success" | "failure", summary: string, say = ""): Turn {
  if (!scene.tools.has("terminate")) return { say: summary, calls: [] };
  return { say, calls: [{ name: "terminate", args: { status, summary } }] };
}

/** A decision, in the form the flow asked for. */
export function decision(name: string, args: ScriptCall["args"]): Turn {
  return { say: "", calls: [{ name, args }] };
}

/** A script's answer to what it needs no tools for. */
export function words(say: string): Turn {
  return { say, calls: [] };
}

/** The end of a tool's result, where errors are. */
export function excerpt(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(-200) || "nothing";
}
