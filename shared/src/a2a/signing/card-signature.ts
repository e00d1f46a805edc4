import { AgentCard, type AgentCardSignature, canonicalizeAgentCard } from "@a2a-js/sdk";
import { decodeProtectedHeader } from "jose/decode/protected_header";
import { FlattenedSign } from "jose/jws/flattened/sign";
import { flattenedVerify } from "jose/jws/flattened/verify";
import { messageOf } from "../../core/errors.ts";
import type { KeyRing } from "./home-keys.ts";
import { isValidNow, type PublicKey, signatureAlgorithms } from "./public-key.ts";

/**
 * The card with a signature (A2A 1.0 section 8.4) of every key of the ring, for each canonical
 * form. `jku` is where the public keys are published.
 */
export async function signCard(card: AgentCard, ring: KeyRing, jku: string): Promise<AgentCard> {
  const payloads = canonicalForms(card).map((form) => new TextEncoder().encode(form));
  const signatures = ring.flatMap(({ key, alg, publicKey: { kid } }) =>
    payloads.map(async (payload): Promise<AgentCardSignature> => {
      const jws = await new FlattenedSign(payload).setProtectedHeader({ alg, kid, typ: "JOSE", jku }).sign(key);
      return { protected: jws.protected ?? "", signature: jws.signature, header: undefined };
    }),
  );
  return { ...card, signatures: await Promise.all(signatures) };
}

/** A signature's own words about its key, which nothing vouches for yet. */
export function keyOfSignature({ protected: head }: AgentCardSignature): { kid?: string; jku?: string } {
  const { kid, jku } = decodeProtectedHeader({ protected: head });
  return { ...(kid !== undefined && { kid }), ...(jku !== undefined && { jku }) };
}

/** Why this signature of a card does not hold with a key; undefined if it does. */
export async function problemOfSignature(
  { protected: head, signature }: AgentCardSignature,
  card: AgentCard,
  key: PublicKey,
  now: number,
): Promise<string | undefined> {
  if (!isValidNow(key, now)) return `a signature by ${JSON.stringify(key.kid)}, which has expired`;
  let reason = "";
  for (const form of canonicalForms(card)) {
    const jws = { protected: head, signature, payload: Buffer.from(form).toString("base64url") };
    try {
      await flattenedVerify(jws, key, { algorithms: signatureAlgorithms });
      return undefined;
    } catch (error) {
      reason = messageOf(error);
    }
  }
  return `an invalid signature (${reason})`;
}

/**
 * The forms of a card that are signed: that of the SDKs, which leaves out whatever is empty, and
 * that of the specification (8.4.1), which keeps required fields; one, if they are the same.
 */
function canonicalForms(card: AgentCard): readonly string[] {
  return [...new Set([canonicalizeAgentCard(card), specifiedForm(card)])];
}

function specifiedForm(card: AgentCard): string {
  const { signatures: _, ...fields } = AgentCard.toJSON({ ...card, signatures: [] }) as CardJson;
  const { supportedInterfaces = [], skills = [] } = fields;
  return canonical({
    name: "",
    description: "",
    version: "",
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    ...fields,
    supportedInterfaces: supportedInterfaces.map((one) => ({
      url: "",
      protocolBinding: "",
      protocolVersion: "",
      ...one,
    })),
    skills: skills.map((one) => ({ id: "", name: "", description: "", tags: [], ...one })),
  });
}

type CardJson = Readonly<Record<string, unknown>> & {
  readonly supportedInterfaces?: readonly object[];
  readonly skills?: readonly object[];
};

/** JSON in the canonical form of RFC 8785. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // By UTF-16 code units, as strings compare.
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
