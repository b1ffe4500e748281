import { onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';

/** Characters of each prompt. */
const PROMPT = 4 * 1024;
const WORDS = 2_000;
const LETTERS = 'etaoinshrdlucmfwypvbgkjqxz';

/**
 * A platform of many agents with long prompts, each another one. They are made of words drawn from a small
 * vocabulary, so that they pack about as well as prose does, and not as well as one sentence over and over.
 */
export async function manyAgents(agents: number): Promise<Simulator> {
  const sim = await startSimulator({ agents });
  onTestFinished(() => sim.close());
  givePrompts(sim);
  return sim;
}

function givePrompts({ store }: Pick<Simulator, 'store'>): void {
  const draw = numbers(7);
  const words = Array.from({ length: WORDS }, () =>
    Array.from({ length: 2 + draw(9) }, () => LETTERS[Math.min(draw(26), draw(26))]).join(''),
  );
  for (const [id, agent] of store.agents) {
    let prompt = `You are agent ${id}.`;
    while (prompt.length < PROMPT) prompt += ` ${words[draw(WORDS)]}`;
    Object.assign(agent, { record: { ...agent.record, system_prompt: prompt.slice(0, PROMPT) } });
  }
}

/** The same numbers below a limit in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What commands need in their environment to reach it. */
export function environmentOf(sim: Simulator) {
  return {
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
  };
}
