import { authorizedFetch } from "manyhands/internal/a2a/client/credentials";
import { ownCredentials } from "manyhands/internal/config/agents/credentials";
import { AppError, type ErrorCode, errorCodes } from "manyhands/internal/core/errors";
import * as z from "zod";
import type { CliContext } from "../session/context.ts";
import { openSystem } from "../session/system-session.ts";
import { fetchServer } from "../tasks/fetch-server.ts";
import { exitCodes } from "../terminal/exit-code.ts";

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];
const refusal = z.looseObject({ code: z.enum(codes).catch("unavailable"), detail: z.string() });

const callMs = 30_000;

/** A call to the gateway's API, whose answer has to fit. */
export type GatewayCall = <Answer>(
  wanted: z.ZodType<Answer>,
  path: string,
  init?: { readonly method: string; readonly body?: string },
) => Promise<Answer>;

/**
 * Starts the gateway if it is not up, and makes calls to it. Rejects with the code and the sentence
 * of its refusals.
 */
export async function atGateway(
  options: { readonly config?: string },
  context: CliContext,
  act: (call: GatewayCall) => Promise<void>,
): Promise<number> {
  const config = await context.configure(options.config);
  const session = await openSystem(config, context, []);
  const own = authorizedFetch(fetch, ownCredentials(config.server), session.url);
  try {
    await act(async (wanted, path, init) => {
      const headers = { "Content-Type": "application/json" };
      const signal = AbortSignal.timeout(callMs);
      const response = await fetchServer(`${session.url}${path}`, { headers, signal, ...init }, own);
      const body: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
      const answer = wanted.safeParse(body);
      if (response.ok && answer.success) return answer.data;
      const refused = response.ok ? undefined : refusal.safeParse(body).data;
      if (refused !== undefined) throw new AppError(refused.code, refused.detail.replace(/^body\./, ""));
      throw new AppError(
        "unavailable",
        `The gateway at ${session.url} answered with status ${response.status} and an unreadable body.`,
      );
    });
    return exitCodes.ok;
  } finally {
    await session.close();
  }
}
