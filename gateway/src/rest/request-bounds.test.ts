import { expect, test } from "bun:test";
import { startGateway } from "../testing/gateway.ts";

type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly pattern?: string;
  readonly default?: unknown;
} & Readonly<Partial<Record<"minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems", number>>>;

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
};

/** What a field may be, in a few characters: its least and most, its pattern, its default. */
function boundText({ pattern = "", default: usual, ...schema }: Schema): string {
  const least = schema.minimum ?? schema.minLength ?? schema.minItems ?? Number.NEGATIVE_INFINITY;
  const most = schema.maximum ?? schema.maxLength ?? schema.maxItems ?? Number.POSITIVE_INFINITY;
  const [from, to] = [least, most].map((one) => (Math.abs(one) < Number.MAX_SAFE_INTEGER ? String(one) : ""));
  const range = from === "" && to === "" ? "" : `${from}..${to}`;
  // Those of dates and of base64 are the library's.
  const shape = pattern.length < 70 ? pattern : "";
  return [range, shape, usual === undefined ? "" : `= ${JSON.stringify(usual)}`].filter((one) => one !== "").join(" ");
}

/** The bounds of a schema's fields, and which of its objects take fields that they do not have. */
function boundsOf(schema: Schema, named: Readonly<Record<string, Schema>>) {
  const bounds = new Set<string>();
  const open: string[] = [];
  const walk = (one: Schema, path: string, above: readonly Schema[]): void => {
    const name = one.$ref?.split("/").at(-1);
    const next = name === undefined ? one : named[name];
    if (next === undefined || above.includes(next)) return;
    if (next !== one) {
      walk(next, path, [...above, one]);
      return;
    }
    const text = boundText(one);
    if (text !== "") bounds.add(`${path} ${text}`.trim());
    if (one.properties !== undefined && one.additionalProperties !== false) open.push(path);
    const below = Object.entries(one.properties ?? {}).map(
      ([key, each]) => [path === "" ? key : `${path}.${key}`, each] as const,
    );
    const items = one.items === undefined ? [] : [[`${path}[]`, one.items] as const];
    const ways = [...(one.anyOf ?? []), ...(one.oneOf ?? [])].map((each) => [path, each] as const);
    for (const [place, each] of [...below, ...items, ...ways]) walk(each, place, [...above, one]);
  };
  walk(schema, "", []);
  return { bounds: [...bounds], open };
}

const key = "header idempotency-key 1..255";
const said = [
  ...["input 1..", "input.text 1..", "input.files ..50", "input.files[].name 1..255"],
  "input.files[].mediaType ..255",
].join(" | ");
const place = String.raw`query after ^\d{0,15}$ | header last-event-id ^\d{0,15}$`;
const places = String.raw`query after ..12000 ^([^:,]{1,200}:\d{1,15}(,[^:,]{1,200}:\d{1,15})*)?$ | query texts 100..`;
const setOfFlow = "flow 1..60 | title 1..100 | description 1..1000 | agents 1..50 | agents[] 1..";
const budget = "budget.steps 1.. | budget.tokens 1.. | budget.usd 0..";
const screen = 'query task 1..200 | query screen = "browser"';
const ofModel = "model 1..200 | baseUrl ..2000 | apiKey 1..4000";

/** What each operation bounds, besides the names and ids in its path of at most 200 characters. */
const bounded: Readonly<Record<string, string>> = {
  "delete /browser/profiles/{name}": "path name 1..100",
  "delete /conversations/{id}": "path id 1..255",
  "delete /memory/{id}": "path id 1..40",
  "delete /settings/flows/{name}": "path name 1..60",
  "delete /settings/mcp-servers/{name}": "path name 1..64",
  "delete /settings/skills/{name}": "path name 1..64",
  "delete /settings/tokens/{name}": "path name 1..100",
  "get /deliveries": 'query state = "failed" | query limit 1..200 = 50',
  "get /memory": "query q ..2000",
  "get /memory/{id}": "path id 1..40",
  "get /runs": [
    ...["query name 1..255", "query status ..200 ^[a-z-]+(,[a-z-]+)*$", "query contextId 1..255", "query q 1..200"],
    ...["query agent 1..255", "query minUsd 0..", "query since", "query count 0..", "query limit 1..200 = 50"],
    "query cursor ..500",
  ].join(" | "),
  "get /runs/{id}/events": place,
  "get /runs/{id}/events/{seq}": "path seq 1..",
  "get /runs/{id}/events/{seq}/request": "path seq 1..",
  "get /runs/{id}/file": "query path 1..4096",
  "get /runs/{id}/live": screen,
  "get /runs/{id}/tree": places,
  "get /settings/skills/{name}": "path name 1..64",
  "get /shared/artifacts/{sha256}/{name}": "path sha256 ^[0-9a-f]{64}$ | path name ..255",
  "get /shared/runs/{id}/events": place,
  "get /shared/runs/{id}/events/{seq}": "path seq 1..",
  "get /shared/runs/{id}/tree": places,
  "get /shares": "query runId 1..200",
  "post /agents": "url ..2000 | name ^[a-z0-9][a-z0-9-]{0,59}$ | token 1..4000",
  "post /flows/{name}": [
    ...[key, "header prefer ..255", said, "agents 1..50", "agents[] 1..", "contextId 1..1024"],
    ...[budget, "budget.wallMs 1.."],
  ].join(" | "),
  "post /memory": 'text 1..20000 | kind = "fact" | public = false',
  "post /memory/{id}": "path id 1..40 | text 1..20000",
  "post /runs/{id}/answer": `${key} | ${said} | questionEvent 1..`,
  "post /runs/{id}/live": [
    ...[screen, "inputs 1..50", "inputs[].x 0..10000", "inputs[].y 0..10000", 'inputs[].button = "left"'],
    ...["inputs[].clicks 1..3 = 1", "inputs[].dx -5000..5000", "inputs[].dy -5000..5000", "inputs[].text 1..5000"],
    ...["inputs[].text ..5000", "burst.id 1..64", "burst.number 0..100000"],
  ].join(" | "),
  "post /runs/{id}/notify": "targets 1..10 | targets[] 1..",
  "post /runs/{id}/rerun": `${key} | header prefer ..255 | text 1..`,
  "post /runs/{id}/shares": "lifeMs 60000..7776000000 = 604800000",
  "post /schedules": [
    ...[
      "name ^(?=.{1,60}$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$",
      "start 1..200",
      "task 1..20000",
      "agents 1..50",
      "agents[] 1..2048",
      budget,
    ],
    ...["cron 1..200", 'timeZone 1..100 = "UTC"', 'missed = "once"', 'overlap = "skip"'],
    ...["notify ..10 = []", "notify[] 1.."],
  ].join(" | "),
  "post /schedules/{name}/run": `${key} | header prefer ..255`,
  "post /settings/flows/{name}": `path name 1..60 | ${setOfFlow}`,
  "post /settings/flows/{name}/check": `path name 1..60 | ${setOfFlow}`,
  "post /settings/mcp-servers": "name 1..64",
  "post /settings/mcp-servers/{name}/approve": "path name 1..64 | seen 1..100",
  "post /settings/mcp-servers/{name}/enable": "path name 1..64",
  "post /settings/mcp-servers/{name}/sign-in": "path name 1..64",
  "post /settings/mcp-servers/{name}/test": "path name 1..64",
  "post /settings/model": ofModel,
  "post /settings/model/test": ofModel,
  "post /settings/skills/{name}/approve": "path name 1..64 | hash 1..128",
  "post /settings/tokens": String.raw`name ^\w[\w.@-]{0,99}$ | principal 1..200 | scopes 1..3 = ["read","run"] | days 1..3650`,
};

test("what a request may say is bounded, and a body has nothing that the operation does not know", async () => {
  await using gateway = await startGateway();
  const { paths, components } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    components: { schemas: Readonly<Record<string, Schema>> };
  };
  const found = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
      const body = requestBody?.content["application/json"].schema;
      const { bounds, open } = boundsOf(body ?? {}, components.schemas);
      const asked = parameters.flatMap(({ in: place, name, schema }) => {
        const text = boundText(schema);
        return place === "path" && text === "1..200" ? [] : [`${place} ${name} ${text}`.trim()];
      });
      expect([method, path, open]).toEqual([method, path, []]);
      return [`${method} ${path}`, [...asked, ...bounds].join(" | ")] as const;
    }),
  );
  expect(Object.fromEntries(found.filter(([, text]) => text !== ""))).toEqual(bounded);
});
