import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icons/icon.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";

/** What a test of an MCP server showed. */
export type Inspected = {
  readonly state: "ready" | "sign-in-needed" | "failed";
  readonly seen?: string;
  readonly error?: string;
  readonly invalid?: readonly string[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly changed: boolean;
    readonly input?: object;
  }[];
};

/** The tools of a server, with those whose definition has to be approved in full. */
export function ServerTools({ inspected, approve }: { inspected: Inspected; approve: (seen: string) => void }) {
  const text = words().system;
  const { state, tools, error = "", invalid = [], seen } = inspected;
  if (state !== "ready")
    return (
      <Banner tone={state === "failed" ? "fail" : "wait"}>
        <b class="med">{state === "failed" ? text.fails : text.wantsSignIn}</b>{" "}
        <span class="words">{safeText(error)}</span>
      </Banner>
    );
  const changed = tools.filter((tool) => tool.changed);
  return (
    <>
      <Banner tone={changed.length > 0 ? "wait" : "acc"} glyph={<Icon name="check" />}>
        <b class="med">{text.works(tools.length)}</b>
        {changed.length > 0 && ` · ${text.changedTools(changed.length)}`}
      </Banner>
      {invalid.length > 0 && (
        <Banner tone="wait">
          {text.invalidTools}
          {invalid.map((tool) => (
            <div key={tool} class="words small">
              {safeText(tool)}
            </div>
          ))}
        </Banner>
      )}
      {changed.length > 0 && seen !== undefined && (
        <div class="changed-tools">
          <p class="small t2">{text.changedNote}</p>
          {changed.map(({ name, description, input }) => (
            <pre key={name} class="words small">
              {safeText(`${name}: ${description}\n${JSON.stringify(input, undefined, 2)}`)}
            </pre>
          ))}
          <Button look="primary" onClick={() => approve(seen)}>
            {text.approve}
          </Button>
        </div>
      )}
      <ul class="tools small">
        {tools.map(({ name, description }) => (
          <li key={name} class="words">
            <code>{safeText(name)}</code> <span class="t3">{safeText(description.slice(0, 200))}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
