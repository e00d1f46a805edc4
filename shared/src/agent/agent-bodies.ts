/**
 * The versions of an agent's body, the newest first: what `agentRun` has. A server names them
 * before it loads the body. When the body asks for other steps than before, it gets the next
 * number, and what it was stays beside it in `former`.
 */
export const agentBodies: readonly [number, ...number[]] = [1];
