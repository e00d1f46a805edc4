import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { NamedSecret, SecretKind, Secrets } from "../../machine/secrets/secrets.ts";
import { findElement } from "../observation/elements/find-element.ts";
import type { SecretOrder, SecretOutcome } from "../observation/in-page/fill-secret.ts";
import { heldUp } from "../observation/look.ts";
import { secretInto } from "../observation/looking.ts";
import { originOf } from "../page/as-data.ts";
import { judgeSecret } from "../risk/judge-secret.ts";
import { type BrowserCall, type BrowserDeps, browserTool } from "./act/browser-tool.ts";
import { ref } from "./act/input.ts";
import { actMs, perform } from "./act/perform.ts";
import { evenIfSlow } from "./act/press.ts";

const lookMs = 10_000;
/** A code that is not sent at once has to outlast the model's next turn. */
const aTurnSeconds = 15;

/** The types of the fields of a page that take a secret of each kind. */
const typesOf: Readonly<Record<SecretKind, readonly string[]>> = {
  // A field that shows what is in it may be one that everybody reads, such as a comment's.
  password: ["password"],
  totp: ["text", "tel", "number", "password"],
  text: ["text", "email", "tel", "number", "password", "search", "url"],
};

/**
 * `browser_type_secret`: writes a secret that the settings name into a field, without a model
 * seeing it, and only on the sites it belongs to.
 */
export function typeSecretTool(deps: BrowserDeps, secrets: Secrets): Tool {
  return browserTool(deps, {
    name: "browser_type_secret",
    description:
      "Types a secret of this site, which you never see, into a field: a password, a one-time code (of a row of fields for its digits, the first).",
    input: z.strictObject({
      ref: ref,
      secret: z.string().min(1).max(100).describe("Its name."),
      submit: z.boolean().default(false).describe("Presses Enter after it."),
    }),
    judge: (input, situation) => judgeSecret(input, situation, secrets.named(input.secret)?.ask === true),
    run: (input, call) => typeSecret(input, call, secrets),
  });
}

type Input = { readonly ref: string; readonly secret: string; readonly submit: boolean };

async function typeSecret({ ref, secret: name, submit }: Input, call: BrowserCall, secrets: Secrets): Promise<string> {
  const { browsing, looks, context } = call;
  const { signal, workspace } = context;
  const secret = await browsing.act(
    async () => {
      const { seen, label } = await findElement(browsing, looks, ref);
      const found = secretFor(name, secrets.at(workspace.principal, originOf(seen.frame.url())), seen.frame.url());
      checkOutcome(await secretInto(seen, orderOf(found)), found, label);
      return found;
    },
    { signal, timeoutMs: lookMs },
  );
  if (secret === undefined) throw heldUp(browsing);
  const { value, seconds } = await secrets.reveal(secret, signal, submit ? undefined : aTurnSeconds);
  const codes = Array.from(value, (character) => character.codePointAt(0) ?? 0);
  return await perform(call, { refs: [ref], timeoutMs: 2 * actMs, watched: false }, async (_, [element], say) => {
    if (element === undefined) return;
    const { seen, label, handle } = element;
    checkOutcome(await secretInto(seen, { ...orderOf(secret), codes }), secret, label);
    const counts = seconds === undefined ? "" : ` It counts for ${seconds} s; after that, type it again.`;
    say(`Typed the secret ${name} into ${label}.${counts}`);
    if (!submit) return;
    say(`Typed the secret ${name} into ${label} and pressed Enter.`);
    await evenIfSlow(handle.press("Enter", { timeout: actMs }));
  });
}

function orderOf({ kind, sites }: NamedSecret): SecretOrder {
  return { types: typesOf[kind], sites };
}

function secretFor(name: string, here: readonly NamedSecret[], url: string): NamedSecret {
  const found = here.find((secret) => secret.name === name);
  if (found !== undefined) return found;
  const names = here.map((secret) => secret.name).join(", ");
  const message = `There is no secret ${JSON.stringify(name)} for ${originOf(url)}. ${names === "" ? "This site has none" : `This site has ${names}`}.`;
  throw new AppError(here.length === 0 ? "forbidden" : "not_found", message);
}

function checkOutcome({ is, of = "" }: SecretOutcome, { name, kind }: NamedSecret, label: string): void {
  if (is === "ready" || is === "filled") return;
  const why = {
    changed: `${label} is no longer what it was. Look again and use the new refs`,
    type: `${label} is of the type ${JSON.stringify(of)}; a ${kind} goes into fields of the type ${typesOf[kind].join(", ")} only`,
    hidden: `${label} is not visible`,
    locked: `${label} is disabled or read-only`,
    site: `${label} is in a page or a frame of ${of}, which is not one of its sites`,
    form: `the form of ${label} is sent to ${of}, which is not one of its sites`,
    refused: `${label} does not take it`,
  }[is];
  const code = is === "site" || is === "form" || is === "type" ? "forbidden" : "conflict";
  throw new AppError(code, `The secret ${name} was not typed: ${why}.`);
}
