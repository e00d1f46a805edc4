import { resolve } from "node:path";
import type * as z from "zod";
import { bearerCredentials, type Credentials } from "../../a2a/client/credentials.ts";
import type { Secret } from "../../a2a/client/secret.ts";
import type { AppError } from "../../core/errors.ts";
import type { credentialsSection } from "../sections/agent-section.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

type AuthTable = z.output<typeof credentialsSection>;

/** What shows our own servers that one of us calls: the token of this system, over its TLS. */
export function ownCredentials({
  token,
  tls,
}: {
  readonly token: string | undefined;
  readonly tls: { readonly client: NonNullable<Credentials["tls"]> } | undefined;
}): Credentials | undefined {
  if (token === undefined && tls === undefined) return undefined;
  return { ...(token !== undefined && bearerCredentials(token)), ...(tls && { tls: tls.client }) };
}

/** The keys of each kind, besides those of mutual TLS; what begins with `!` has to be there. */
const keysOf = {
  bearer: ["!secret"],
  api_key: ["!secret", "header"],
  oauth: ["!secret", "!token_url", "!client_id", "scopes", "audience"],
  token_exchange: ["!subject", "!token_url", "secret", "client_id", "scopes", "audience"],
  none: [],
} as const;

/**
 * The credentials of a table: its `auth`, or its `token`. Throws `config_invalid` for keys that do
 * not belong together.
 */
export function credentialsOf(
  path: readonly [section: "agents" | "peers", name: string],
  { auth, token }: { readonly auth?: AuthTable | undefined; readonly token?: string | undefined },
  settings: Settings,
  cwd: string,
): Credentials | undefined {
  if (auth === undefined || Object.keys(auth).length === 0)
    return token === undefined ? undefined : bearerCredentials(token);
  const invalid = (why: string) => faultAt(settings, [...path, "auth"], `[${path.join(".")}.auth] ${why}`);
  if (settings.origins.has([...path, "token"].join("."))) throw invalid("cannot stand beside token; name it here.");
  const { kind, cert, key, ca } = auth;
  if ((cert === undefined) !== (key === undefined)) throw invalid("has cert and key, or neither.");
  const secrets = { secret: secretOf("secret", auth, cwd, invalid), subject: secretOf("subject", auth, cwd, invalid) };
  checkKeys({ ...auth, ...secrets }, kind ?? "none", invalid);
  const at = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file));
  const hasTls = cert !== undefined || ca !== undefined;
  const identity = identityOf(auth, secrets);
  return { ...(identity && { identity }), ...(hasTls && { tls: { cert: at(cert), key: at(key), ca: at(ca) } }) };
}

type Secrets = { readonly secret: Secret | undefined; readonly subject: Secret | undefined };

function identityOf(auth: AuthTable, { secret, subject }: Secrets): Credentials["identity"] {
  const { kind, header = "X-API-Key", token_url: tokenUrl = "", client_id: clientId, audience, scopes = [] } = auth;
  if (kind === "bearer" && secret !== undefined) return { kind, secret };
  if (kind === "api_key" && secret !== undefined) return { kind, secret, header };
  if (kind === "oauth" || kind === "token_exchange")
    return { kind, secret, subject, tokenUrl, clientId, audience, scopes };
  return undefined;
}

function checkKeys(
  auth: Readonly<Record<string, unknown>>,
  kind: keyof typeof keysOf,
  invalid: (why: string) => AppError,
): void {
  const keys: readonly string[] = keysOf[kind];
  const named = kind === "none" ? "without kind" : `of kind ${JSON.stringify(kind)}`;
  const missing = keys.find((key) => key.startsWith("!") && auth[key.slice(1)] === undefined)?.slice(1);
  if (missing !== undefined) throw invalid(`${named} needs ${missing}${hasVariants(missing)}.`);
  const known = keys.map((key) => key.replace("!", ""));
  const optional = ["header", "token_url", "client_id", "scopes", "audience", "secret", "subject"];
  const other = optional.find((key) => auth[key] !== undefined && !known.includes(key));
  if (other !== undefined) throw invalid(`${named} has no ${other}.`);
}

function hasVariants(key: string): string {
  return key === "secret" || key === "subject" ? `, ${key}_env or ${key}_file` : "";
}

function secretOf(
  name: "secret" | "subject",
  auth: AuthTable,
  cwd: string,
  invalid: (why: string) => AppError,
): Secret | undefined {
  const [text, file] = [auth[name], auth[`${name}_file`]];
  if (text !== undefined && file !== undefined) throw invalid(`has ${name} twice.`);
  if (file !== undefined) return { file: resolve(cwd, file) };
  return text === undefined ? undefined : { text };
}
