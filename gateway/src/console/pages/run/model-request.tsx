import type { AskedMessage, AskedRequest } from "manyhands/internal/core/runs/asked-request";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { runPath } from "../../api/catalog.ts";
import { get } from "../../api/client.ts";
import type { TreeEvent } from "../../api/tree-events.ts";
import { countText, safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { CodeBlock, prettyJson } from "./render/code-block.tsx";

/** What the model was asked in the call that an event reports: settings, messages and tools. */
export function ModelRequest({ reply: { runId, seq } }: { reply: TreeEvent }) {
  const text = words().run;
  const [asked, setAsked] = useState<AskedRequest | string>();
  useEffect(() => {
    const gone = new AbortController();
    get<AskedRequest>(`${runPath(runId)}/events/${seq}/request`, gone.signal).then(setAsked, (error) => {
      if (!gone.signal.aborted) setAsked(String(error.message));
    });
    return () => gone.abort();
  }, [runId, seq]);
  if (asked === undefined) return <p class="t3 small">{text.loadingRequest}</p>;
  if (typeof asked === "string") return <p class="t3 small">{safeText(asked)}</p>;
  const { messages, tools, ...settings } = asked;
  return (
    <>
      <h3>{text.request(messages.length)}</h3>
      <ol class="asked">
        {messages.map((message, at) => (
          <li key={at}>
            <Folded title={message.role} line={firstLine(message)}>
              <CodeBlock text={wordsOf(message)} />
            </Folded>
          </li>
        ))}
      </ol>
      <Folded title={text.toolsOffered(tools.length)} line={tools.map(({ name }) => name).join(", ")}>
        <CodeBlock text={tools.map(toolText).join("\n\n")} />
      </Folded>
      <Folded title={text.requestSettings} line={JSON.stringify(settings)}>
        <CodeBlock text={JSON.stringify(settings, undefined, 2)} />
      </Folded>
    </>
  );
}

/** A line that unfolds; what it unfolds is made only then, since a request may be long. */
function Folded({ title, line, children }: { title: string; line: string; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="cut">
        <span class="mono">{title}</span> <span class="t3 small">{safeText(line)}</span>
      </summary>
      {open && children}
    </details>
  );
}

const longestLine = 160;

function firstLine(message: AskedMessage): string {
  const all = wordsOf(message);
  const line = all.slice(0, longestLine).replaceAll(/\s+/g, " ");
  return `${countText(all.length)} · ${line}${all.length > longestLine ? "…" : ""}`;
}

/** A message in words, with its calls and pictures after its text. */
function wordsOf(message: AskedMessage): string {
  switch (message.role) {
    case "system":
      return message.text;
    case "user":
      return message.parts.map((part) => (part.type === "text" ? part.text : pictureText(part))).join("\n\n");
    case "assistant": {
      const calls = message.toolCalls.map(({ id, name, arguments: given }) => `${name} ${id}\n${prettyJson(given)}`);
      return [...(message.text === "" ? [] : [message.text]), ...calls].join("\n\n");
    }
    case "tool": {
      const failed = message.isError ? " !" : "";
      const pictures = (message.images ?? []).map(pictureText);
      return [`${message.name} ${message.callId}${failed}\n${message.text}`, ...pictures].join("\n\n");
    }
  }
}

const pictureText = ({ mediaType, sha256, size }: { mediaType: string; sha256: string; size: number }) =>
  `[${mediaType}, ${countText(size)} B, sha256 ${sha256}]`;

const toolText = ({ name, description, inputSchema }: AskedRequest["tools"][number]) =>
  `${name}\n${description}\n${JSON.stringify(inputSchema, undefined, 2)}`;
