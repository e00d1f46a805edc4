import type { FlowExample } from "manyhands/internal/core/flow";
import type { RunView } from "manyhands/internal/runs/run-view";
import { safeText } from "../words/format.ts";
import { get } from "./client.ts";

/** A page of runs. */
export type RunList = { readonly runs: readonly RunView[]; readonly total: number; readonly nextCursor?: string };

/** The JSON Schema of one option of a flow, as far as the form reads it. */
export type OptionSchema = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
};

/** A flow and what may be set for it. */
export type ListedFlow = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly example?: FlowExample;
  readonly options?: { readonly properties?: Readonly<Record<string, OptionSchema>> };
};

/** An agent that the gateway knows, with its health. */
export type ListedAgent = {
  readonly name: string;
  readonly title?: string;
  readonly url: string;
  readonly health: string;
  readonly reason?: string;
  readonly breaker: string;
  readonly source?: string;
  readonly model?: { readonly name: string; readonly provider: string };
  readonly sandbox?: string;
  readonly checkedAt?: string;
  readonly changes: readonly { readonly at: string; readonly what: readonly string[] }[];
  readonly card?: {
    readonly description?: string;
    readonly version?: string;
    readonly skills?: readonly { readonly id: string; readonly name: string; readonly description?: string }[];
  };
};

/** What the gateway says about itself. */
export type Health = { readonly version: string; readonly model: { readonly name: string; readonly provider: string } };

/** An example as the gateway shows it: the body of a request. */
type ExampleRequest = Pick<FlowExample, "agents" | "options"> & {
  readonly input:
    | string
    | { readonly text: string; readonly files: readonly { readonly name: string; readonly bytes: string }[] };
};

/** The registered flows. */
export async function getFlows(): Promise<readonly ListedFlow[]> {
  type Sent = Omit<ListedFlow, "example"> & { readonly example?: ExampleRequest };
  const { flows } = await get<{ flows: readonly Sent[] }>("/flows");
  return flows.map(({ example, ...flow }) => ({ ...flow, ...(example && { example: exampleOf(example) }) }));
}

function exampleOf({ input, ...settings }: ExampleRequest): FlowExample {
  if (typeof input === "string") return { text: input, ...settings };
  const files = input.files.map(({ name, bytes }) => ({ name, text: fromBase64(bytes) }));
  return { text: input.text, files, ...settings };
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)));
}

/** The known agents. What they call themselves is shown in many places, and is safe to show. */
export async function getAgents(): Promise<readonly ListedAgent[]> {
  const { agents } = await get<{ agents: readonly ListedAgent[] }>("/agents");
  return agents.map(({ title, card, ...agent }) => ({
    ...agent,
    ...(title !== undefined && { title: safeText(title) }),
    ...(card && { card: { ...card, ...(card.description && { description: safeText(card.description) }) } }),
  }));
}

/** The gateway's version and model. */
export const getHealth = (): Promise<Health> => get<Health>("/healthz");

/** A page of the caller's runs, newest first. */
export function getRuns(query: Readonly<Record<string, string | number>>, signal?: AbortSignal): Promise<RunList> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return get<RunList>(`/runs?${search}`, signal);
}

/** The address of a run in the API. */
export const runPath = (id: string): string => `/runs/${encodeURIComponent(id)}`;

/** The current state of a run. */
export const getRun = (id: string, signal?: AbortSignal): Promise<RunView> => get<RunView>(runPath(id), signal);
