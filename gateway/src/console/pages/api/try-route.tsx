import { useRef, useState } from "preact/hooks";
import { hasToken } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { durationText, safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { prettyJson } from "../run/render/code-block.tsx";
import { type ApiRoute, curlOf, type EnteredParameters, keyOf, type Parameter, requestOf } from "./document.ts";
import { type Answered, send } from "./send.ts";

/** The form of a route, its request as a line for a shell, and its response as it comes. */
export function TryRoute({ route }: { route: ApiRoute }) {
  const text = words().system;
  const [entered, setEntered] = useState<EnteredParameters>({});
  const [body, setBody] = useState(route.body ?? "");
  const [answered, setAnswered] = useState<Answered | undefined>(undefined);
  const underWay = useRef<AbortController | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const request = requestOf(route, entered, body);
  const run = async () => {
    const fault = route.body === undefined ? undefined : jsonFault(body);
    if (fault !== undefined) return complain(new Error(text.notJson(fault)));
    const stop = new AbortController();
    underWay.current = stop;
    setBusy(true);
    setAnswered(undefined);
    await send(request, stop.signal, setAnswered).catch((error) => stop.signal.aborted || complain(error));
    setBusy(false);
  };
  return (
    <section class="try" aria-label={`${route.method} ${route.path}`}>
      <h2>
        <span class={`verb ${route.method.toLowerCase()}`}>{route.method}</span> <code>{route.path}</code>
      </h2>
      <p class="t2">{`${route.summary}. ${route.description}`.replaceAll("`", "")}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {route.parameters.map((one) => (
          <TextField
            key={keyOf(one)}
            id={`parameter-${one.in}-${one.name}`}
            label={`${one.name} (${one.in}${one.required ? `, ${text.required}` : ""})`}
            value={entered[keyOf(one)] ?? ""}
            required={one.required === true}
            note={noteOf(one)}
            onValue={(value) => setEntered({ ...entered, [keyOf(one)]: value })}
          />
        ))}
        {route.body !== undefined && (
          <TextField id="request-body" label={text.body} value={body} rows={8} onValue={setBody} />
        )}
        <div class="acts">
          <Button look={route.method === "DELETE" ? "fail" : "primary"} type="submit" disabled={busy}>
            {busy ? text.sending : text.sendRequest}
          </Button>
          {busy && <Button onClick={() => underWay.current?.abort()}>{text.stopStream}</Button>}
          {route.method === "DELETE" && <span class="s-fail small">{text.dangerous}</span>}
        </div>
      </form>
      <Curl line={curlOf(request, document.baseURI, hasToken())} />
      {answered !== undefined && <Response answered={answered} />}
    </section>
  );
}

function noteOf({ schema, description }: Parameter): string | undefined {
  const allowed = schema?.enum?.join(" | ");
  return [schema?.description ?? description, allowed].filter(Boolean).join(" ").replaceAll("`", "") || undefined;
}

function jsonFault(body: string): string | undefined {
  try {
    JSON.parse(body);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function Curl({ line }: { line: string }) {
  const text = words().system;
  const copy = () =>
    navigator.clipboard.writeText(line).then(
      () => toast(text.copied),
      () => complain(new Error(words().copyFailed)),
    );
  return (
    <>
      <div class="row">
        <h3 class="strong grow">{text.asCurl}</h3>
        <Button look="ghost" onClick={() => void copy()}>
          {text.copy}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys have to reach it. */}
      <pre class="term-line" tabIndex={0}>
        {line}
      </pre>
    </>
  );
}

function Response({ answered }: { answered: Answered }) {
  const text = words().system;
  const { status, statusText, headers, text: body, isCut, isDone, headMs, totalMs } = answered;
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  return (
    <section aria-label={text.response}>
      <div class="row wrap">
        <h3 class="strong">{text.response}</h3>
        <span class={status < 400 ? "s-ok med" : "s-fail med"} role="status">
          {status} {statusText}
        </span>
        <span class="t3 small num">
          {durationText(headMs)} / {durationText(totalMs)}
        </span>
      </div>
      <details>
        <summary class="t3 small">{text.headers}</summary>
        <dl class="kv small">
          {headers.map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd class="words">{value}</dd>
            </>
          ))}
        </dl>
      </details>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys have to reach it. */}
      <pre class="answer-body" tabIndex={0}>
        {safeText(isDone && type.includes("json") ? prettyJson(body) : body)}
      </pre>
      {isCut && <p class="t3 small">{text.cutAt}</p>}
    </section>
  );
}
