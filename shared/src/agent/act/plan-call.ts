import type { ToolCall } from "../../core/model.ts";
import type { Tool } from "../../core/tool.ts";
import { type ParsedArguments, parseArguments } from "../../models/arguments.ts";
import type { PlannedCall } from "../task/loop.ts";

/**
 * Decides whether a call may be made: at once, only after a person allowed it, or not at all. Told
 * the arguments as the model wrote them.
 */
export type ApprovalPolicy = (call: ToolCall) => PlannedCall["approval"];

/** A call with its arguments as they were understood. */
export type ReadCall = ToolCall & { readonly input: ParsedArguments };

/**
 * The call with its arguments understood: once, where the model's reply is taken in. A call that an
 * earlier version recorded comes without.
 */
export function readCall<Call extends ToolCall & { readonly input?: ParsedArguments }>(call: Call): Call & ReadCall {
  const { input } = call;
  return input === undefined ? { ...call, input: parseArguments(call.arguments) } : (call as Call & ReadCall);
}

/** A risk of a call, and what is configured for risky calls. */
export type CallRisk = { readonly sentence: string; readonly way: PlannedCall["approval"] };

/**
 * Says how a call is to be made. `tool` is undefined where there is none of that name. The stricter
 * of policy and risk holds.
 */
export function planCall(
  call: ReadCall,
  tool: Tool | undefined,
  policy: ApprovalPolicy,
  risk: CallRisk | undefined,
): PlannedCall {
  const ways = [policy(call), risk?.way ?? "allow"];
  const approval = ways.includes("deny") ? "deny" : ways.includes("ask") ? "ask" : "allow";
  return { ...call, approval, way: wayOf(call, tool), ...(risk && { risk: risk.sentence }) };
}

function wayOf({ input }: ReadCall, tool: Tool | undefined): PlannedCall["way"] {
  if (tool === undefined) return "together";
  if (tool.callDurably !== undefined) {
    if (!input.ok) return "alone";
    return tool.parallel === true ? "waiting-together" : "waiting";
  }
  return (tool.parallel ?? (input.ok && tool.effect(input.value) === "pure")) ? "together" : "alone";
}
