import * as z from "zod";
import { problemsOf, type RestEndpoint } from "../rest/endpoint.ts";
import { type Html, html } from "./html.ts";

/**
 * `/docs`: the operations of the REST API for people, made from the schemas that validate requests.
 * One page without scripts.
 */
export function docsPage(
  endpoints: readonly RestEndpoint[],
  about: { readonly version: string; readonly publicUrl: string },
): string {
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Manyhands: the API</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header><h1>Manyhands</h1><nav><a href=".">console</a> <a href="openapi.json">openapi.json</a></nav></header>
<main>
<p>Agents and flows, version ${about.version}. All work is a run: start it, watch it, answer it, cancel it. Errors are
<code>application/problem+json</code> with a stable <code>code</code>.</p>
<pre>curl ${about.publicUrl}/flows/planning -H 'content-type: application/json' \\
  -H 'prefer: wait=60' -d '{"input": "Compare these two files."}'</pre>
<h2>Other protocols</h2>
<ul>
<li><code>${about.publicUrl}/a2a/NAME</code>: every flow and agent as an A2A server, 1.0 and 0.3</li>
<li><code>${about.publicUrl}/mcp</code>: every flow and agent as a tool of an MCP server</li>
<li><code>${about.publicUrl}/v1</code>: every flow and agent as a model of an OpenAI-compatible API</li>
</ul>
${tags.map((tag) =>
  section(
    tag,
    endpoints.filter((one) => one.tag === tag),
  ),
)}
</main>
</body>
</html>`;
  return page.html;
}

function section(tag: string, endpoints: readonly RestEndpoint[]): Html {
  return html`<h2>${tag}</h2>${endpoints.map(operation)}`;
}

function operation(endpoint: RestEndpoint): Html {
  const { method, path, summary, description = "", request, answers } = endpoint;
  const { params, query, headers, body } = request;
  const places = [
    ["path", params],
    ["query", query],
    ["header", headers],
  ] as const;
  const rows = places.flatMap(([place, schema]) => (schema === undefined ? [] : parameterRows(place, schema)));
  const codes = [...Object.keys(answers), ...problemsOf(endpoint)].join(", ");
  return html`<section class="operation">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p>${summary}. ${withCode(description)}</p>
${rows.length > 0 ? html`<table>${rows}</table>` : html``}
${body === undefined ? html`` : html`<details><summary>body</summary><pre>${schemaText(body)}</pre></details>`}
<p class="quiet">answers ${codes}</p>
</section>`;
}

/** A text with what stands between backticks as code. */
function withCode(text: string): Html[] {
  return text.split("`").map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
}

function parameterRows(place: string, schema: z.ZodObject): Html[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input" });
  return Object.entries(properties).map(([name, about]) => {
    const told = typeof about === "object" ? about : {};
    const type = [told.type ?? "", told.enum?.join(" | ") ?? "", required.includes(name) ? "required" : ""];
    return html`<tr><td><code>${name}</code></td><td>${place}</td><td>${type.filter((one) => one !== "").join(", ")}</td><td>${withCode(told.description ?? "")}</td></tr>`;
  });
}

function schemaText(schema: z.ZodType): string {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return JSON.stringify(rest, undefined, 2);
}
