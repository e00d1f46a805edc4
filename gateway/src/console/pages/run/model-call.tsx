import { useState } from "preact/hooks";
import { isEvent } from "../../api/events.ts";
import type { TreeEvent } from "../../api/tree-events.ts";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { countText, durationText, moneyText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { Facts } from "./facts.tsx";
import { useFullEvent } from "./full-event.ts";
import { ModelRequest } from "./model-request.tsx";
import { CodeBlock, prettyJson } from "./render/code-block.tsx";
import { Pictures } from "./render/pictures.tsx";

/** A model call: what it read, wrote and cost, and on demand what it was asked and answered. */
export function ModelCall({ reply, open = false }: { reply: TreeEvent; open?: boolean }) {
  const text = words().run;
  const [shown, setShown] = useState(open);
  const { event } = reply;
  if (!isEvent(event, "model-replied")) return null;
  const { usage, milliseconds, model } = event;
  const rows = [
    [text.model, model],
    [text.read, text.readTokens(countText(usage.inputTokens), countText(usage.cachedInputTokens))],
    ...(usage.cacheWriteTokens === undefined
      ? []
      : [[text.cache, text.cacheTokens(countText(usage.cacheWriteTokens))]]),
    [text.wrote, text.wroteTokens(countText(usage.outputTokens))],
    [text.cost, usage.costUsd === null ? text.unpriced : moneyText(usage.costUsd)],
    [text.took, durationText(milliseconds)],
  ];
  return (
    <Facts title={text.modelCall} rows={rows}>
      {shown ? <Kept reply={reply} /> : <Button onClick={() => setShown(true)}>{text.showReply}</Button>}
    </Facts>
  );
}

function Kept({ reply }: { reply: TreeEvent }) {
  const text = words().run;
  const { event } = useFullEvent(reply) ?? reply;
  if (!isEvent(event, "model-replied")) return null;
  return (
    <>
      {event.request === undefined ? <p class="t3 small">{text.noRequest}</p> : <ModelRequest reply={reply} />}
      {event.observation && (
        <>
          <h3>{text.shown}</h3>
          <CodeBlock text={event.observation.text} />
        </>
      )}
      <Pictures files={event.images ?? []} />
      {event.text !== "" && (
        <>
          <h3>{text.reply}</h3>
          <Markdown text={event.text} />
        </>
      )}
      {event.toolCalls.length > 0 && <h3>{text.askedFor}</h3>}
      {event.toolCalls.map(({ id, name, arguments: given }) => (
        <CodeBlock key={id} text={`${name} ${prettyJson(given)}`} />
      ))}
    </>
  );
}
