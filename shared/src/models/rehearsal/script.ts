/** A tool call a script makes. */
export type ScriptCall = { readonly name: string; readonly args: { readonly [parameter: string]: unknown } };

/** The text and calls of one turn. A turn without calls is the last one of a task. */
export type ScriptedTurn = {
  readonly say: string;
  readonly calls: readonly ScriptCall[];
  /** Whether what it says is why it does not do the task. */
  readonly isRefused?: boolean;
};

/** What a script can see besides the results of its calls. */
export type Scene = {
  readonly tools: ReadonlySet<string>;
  /** The whole message that the script was found by. */
  readonly text: string;
};

/**
 * A part of a script: yields turns, receives the results of each turn's calls in order, and returns
 * an outcome.
 */
export type Acting<Outcome> = Generator<ScriptedTurn, Outcome, readonly string[]>;

/**
 * A part the rehearsal model knows by heart, written as straight-line code. Every request plays it
 * from its beginning, over the results in the request, so it must depend on nothing but the scene
 * and those results.
 */
export type Script = {
  /** One line for people: what the task is. Parts of a task that already has a title have none. */
  readonly title?: string;
  /** The words of the task, found anywhere in a user's message. */
  readonly task: string;
  /**
   * The tool that a flow forces for a decision. A script without it never answers such a request.
   */
  readonly decides?: string;
  /** Returns the last turn; a part that needs no tools is that turn alone. */
  play(scene: Scene): Acting<ScriptedTurn> | ScriptedTurn;
};

/** The last turn: calls `terminate` if it is offered, otherwise plain text. */
export function finish(
  scene: Pick<Scene, "tools">,
  status: "success" | "failure",
  summary: string,
  say = "",
): ScriptedTurn {
  if (!scene.tools.has("terminate")) return { say: summary, calls: [] };
  return { say, calls: [{ name: "terminate", args: { status, summary } }] };
}

/** A decision, in the form the flow requested. */
export function decision(name: string, args: ScriptCall["args"]): ScriptedTurn {
  return { say: "", calls: [{ name, args }] };
}

/** An answer that needs no tools. */
export function words(say: string): ScriptedTurn {
  return { say, calls: [] };
}

/** The end of a tool's result, where errors are. */
export function excerpt(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(-200) || "nothing";
}
