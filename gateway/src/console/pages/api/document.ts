/** The parts of an OpenAPI document that the page reads. */
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
};

type Operation = {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
};

/** A parameter of a route, in its path, its query or its headers. */
export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
};

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
};

/** One operation of the API, ready to be shown. */
export type ApiRoute = {
  /** Method and path; names it in addresses. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** An example of its body, as JSON; undefined if it takes none. */
  readonly body: string | undefined;
};

/** The operations of a document, in its order. */
export function routesOf(document: OpenApi): ApiRoute[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { tags = [], summary = "", description = "", parameters = [], requestBody }]) => {
        const schema = requestBody?.content["application/json"]?.schema;
        return {
          id: `${method} ${path}`,
          method: method.toUpperCase(),
          path,
          tag: tags[0] ?? "",
          summary,
          description,
          parameters,
          body: schema && JSON.stringify(exampleOf(schema, document, 0), undefined, 2),
        };
      },
    ),
  );
}

const deepest = 5;

/** A value that a schema allows: what it requires, and nothing more. */
function exampleOf(schema: Schema, document: OpenApi, depth: number): unknown {
  const named = schema.$ref?.split("/").at(-1);
  const known = named === undefined ? undefined : document.components?.schemas?.[named];
  if (depth > deepest) return null;
  if (known !== undefined) return exampleOf(known, document, depth + 1);
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const first = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0];
  if (first !== undefined) return exampleOf(first, document, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") {
    const { properties = {}, required = [] } = schema;
    const shown = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
    return Object.fromEntries(shown.map((key) => [key, exampleOf(properties[key] ?? {}, document, depth + 1)]));
  }
  if (type === "array") return schema.items === undefined ? [] : [exampleOf(schema.items, document, depth + 1)];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  return type === "string" ? "text" : {};
}

/** What was entered for parameters, by place and name. */
export type EnteredParameters = Readonly<Record<string, string>>;

/** The key of a parameter in what was entered. */
export const keyOf = ({ in: place, name }: Parameter): string => `${place} ${name}`;

/** A request for a route: path with query, method, headers, body. */
export function requestOf(
  { method, path, parameters, body }: ApiRoute,
  entered: EnteredParameters,
  text: string,
): {
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
} {
  const set = parameters.flatMap((one) => {
    const value = entered[keyOf(one)] ?? "";
    return value === "" ? [] : [{ ...one, value }];
  });
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(entered[`path ${name}`] ?? ""));
  const query = new URLSearchParams(set.flatMap((one) => (one.in === "query" ? [[one.name, one.value]] : [])));
  const headers = Object.fromEntries(set.flatMap((one) => (one.in === "header" ? [[one.name, one.value]] : [])));
  return {
    path: query.size > 0 ? `${filled}?${query}` : filled,
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: text }),
  };
}

/** The request as a line for a shell; the token is a variable. */
export function curlOf(
  { path, method, headers, body }: ReturnType<typeof requestOf>,
  base: string,
  hasToken: boolean,
): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const all = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [
    "curl -sN",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    quoted(new URL(`.${path}`, base).href),
    ...all,
    ...(hasToken ? ['-H "Authorization: Bearer $MANYHANDS_TOKEN"'] : []),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(" ");
}
