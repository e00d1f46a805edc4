import type { ToolCall } from "../../core/model.ts";
import { escapeUnseen } from "../../core/text/sanitize.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { type ParsedArguments, parseArguments } from "../../models/arguments.ts";
import type { PlannedCall } from "../task/loop.ts";
import { permissionFor } from "./task-permission.ts";

/**
 * Decides whether a call may be made: at once, only after a person has allowed it, or not at all.
 * Gets the arguments as the model wrote them.
 */
export type ApprovalPolicy = (call: ToolCall) => PlannedCall["approval"];

/** A call with its parsed arguments. */
export type ReadCall = ToolCall & { readonly input: ParsedArguments };

/**
 * The call with its arguments parsed: once, when the model's reply arrives. Calls recorded by an
 * earlier version have no parsed arguments yet.
 */
export function readCall<Call extends ToolCall & { readonly input?: ParsedArguments }>(call: Call): Call & ReadCall {
  const { input } = call;
  return input === undefined ? { ...call, input: parseArguments(call.arguments) } : (call as Call & ReadCall);
}

/** The risk of a call, and the configured policy for risky calls. */
export type CallRisk = { readonly sentence: string; readonly way: PlannedCall["approval"] };

/**
 * Plans how to make a call; `tool` is undefined if no tool has that name. The stricter of policy
 * and risk applies.
 */
export function planCall(
  call: ReadCall,
  tool: Tool | undefined,
  policy: ApprovalPolicy,
  risk: CallRisk | undefined,
): PlannedCall & ReadCall {
  const ways = [policy(call), risk?.way ?? "allow"];
  const approval = ways.includes("deny") ? "deny" : ways.includes("ask") ? "ask" : "allow";
  const forTask = approval === "ask" ? permissionFor(call, tool, risk?.sentence) : undefined;
  const judged = { ...(risk && { risk: risk.sentence }), ...(forTask !== undefined && { forTask }) };
  const shown = approval === "ask" ? shownArguments(call) : call.arguments;
  const asked = shown === call.arguments ? {} : { shown };
  return { ...call, approval, way: wayOf(call, tool), ...judged, ...asked };
}

/**
 * What the call would be made with, in one way of writing. A model may write a name twice, in
 * escapes, after pages of spaces or in a comment, and a person would read something else.
 */
function shownArguments({ arguments: written, input }: ReadCall): string {
  return input.ok ? escapeUnseen(JSON.stringify(input.value)) : written;
}

function wayOf({ input }: ReadCall, tool: Tool | undefined): PlannedCall["way"] {
  if (tool === undefined) return "together";
  if (tool.callDurably !== undefined) {
    if (!input.ok) return "alone";
    return tool.parallel === true ? "waiting-together" : "waiting";
  }
  return (tool.parallel ?? (input.ok && tool.effect(input.value) === "pure")) ? "together" : "alone";
}
