import type { Command } from './commands.ts';
import { type Fields, type Files, isFields, NO_FILES, nameOf, type Value } from './files.ts';

/** What a team has when the play begins: one agent that is not there yet, and one that is. */
export const FIRST: Files = {
  ...NO_FILES,
  agents: {
    a: {
      ...newAgent('a'),
      greeting_message: 'one',
      integrations: {
        smsProvider: {
          account_sid: 'AC1',
          auth_token: { $secret: 'env:S1' },
          fromNumber: '+15550100',
        },
      },
    },
    b: newAgent('b'),
  },
  prompts: { a: 'You answer.\n', b: 'You answer.\n' },
};

const VOICE: Fields = {
  name: nameOf('Voice v'),
  clip: 'clip.wav',
  language: 'es',
  consent: true,
};

function policyOf(delay: number): Fields {
  return {
    name: nameOf('Policy p'),
    rules: { no_answer: { delay_seconds: delay, max_attempts: 3 } },
    on_exhausted: 'end',
  };
}

function newAgent(key: string): Fields {
  return { name: nameOf(key), system_prompt: { $file: `prompts/${key}.md` } };
}

function withAgent(files: Files, key: string, agent: Fields): Files {
  const address = `agent.${key}`;
  return {
    ...files,
    agents: { ...files.agents, [key]: agent },
    prompts: { ...files.prompts, [key]: 'You answer.\n' },
    forget: files.forget.filter((one) => one !== address),
    moved: files.moved.filter(({ from }) => from !== address),
  };
}

function withoutAgent(files: Files, key: string): Files {
  const { [key]: _, ...agents } = files.agents;
  const { [key]: __, ...prompts } = files.prompts;
  return {
    ...files,
    agents,
    prompts,
    moved: files.moved.filter(({ to }) => to !== `agent.${key}`),
  };
}

function unreferenced(agents: Files['agents'], field: string): Files['agents'] {
  return Object.fromEntries(
    Object.entries(agents).map(([key, { [field]: _, ...rest }]) => [key, rest]),
  );
}

/** A copy with a member set by path, or taken out; what is left empty goes, too. */
function setAt(document: Fields, path: readonly string[], value: Value | undefined): Fields {
  const [name = '', ...rest] = path;
  const { [name]: before, ...others } = document;
  if (rest.length === 0) return value === undefined ? others : { ...document, [name]: value };
  const inner = setAt(isFields(before) ? before : {}, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...document, [name]: inner };
}

/** Whether an agent has that name already, whichever its key. */
function isNamed(files: Files, key: string): boolean {
  return Object.values(files.agents).some(({ name }) => name === nameOf(key));
}

/**
 * The files after a command that edits them; undefined where it does not, or has nothing to edit. `number` tells texts
 * from each other.
 */
export function editFiles(files: Files, one: Command, number: number): Files | undefined {
  const { agents } = files;
  switch (one.do) {
    case 'edit': {
      const existing = agents[one.agent];
      if (existing === undefined && isNamed(files, one.agent)) return undefined;
      const agent = existing ?? newAgent(one.agent);
      let next = files;
      if (existing === undefined) next = withAgent(next, one.agent, agent);
      let document: Fields = agent;
      for (const [path, value] of one.set) document = setAt(document, path.split('.'), value);
      next = { ...next, agents: { ...next.agents, [one.agent]: document } };
      const text = JSON.stringify(document);
      if (text.includes('custom_voice.v') && next.voices.v === undefined)
        next = { ...next, voices: { v: VOICE } };
      if (text.includes('retry_policy.p') && next.policies.p === undefined)
        next = { ...next, policies: { p: policyOf(60) } };
      return next;
    }
    case 'add':
    case 'remove': {
      if (one.section === 'agents') {
        if (one.do === 'add')
          return isNamed(files, one.key) ? files : withAgent(files, one.key, newAgent(one.key));
        else return withoutAgent(files, one.key);
      } else if (one.section === 'policies')
        return {
          ...files,
          policies: one.do === 'add' ? { p: policyOf(60) } : {},
          agents: one.do === 'add' ? agents : unreferenced(agents, 'default_retry_policy_id'),
        };
      else
        return {
          ...files,
          voices: one.do === 'add' ? { v: VOICE } : {},
          agents: one.do === 'add' ? agents : unreferenced(agents, 'voice_settings'),
        };
    }
    case 'rename': {
      const { from, to, isSaid } = one;
      if (agents[from] === undefined || agents[to] !== undefined || from === to) return undefined;
      const { [from]: moved = {}, ...rest } = agents;
      const { [from]: prompt = '', ...prompts } = files.prompts;
      const said = files.moved.filter(
        (entry) =>
          entry.from !== `agent.${to}` &&
          entry.to !== `agent.${from}` &&
          entry.from !== `agent.${from}`,
      );
      return {
        ...files,
        agents: { ...rest, [to]: { ...moved, system_prompt: { $file: `prompts/${to}.md` } } },
        prompts: { ...prompts, [to]: prompt },
        moved: isSaid ? [...said, { from: `agent.${from}`, to: `agent.${to}` }] : said,
        forget: files.forget.filter((address) => address !== `agent.${to}`),
      };
    }
    case 'prompt': {
      const text = files.prompts[one.agent];
      if (text === undefined) return undefined;
      const next = one.how === 'append' ? `${text}Line ${number}.\n` : `Another ${number}.\n`;
      return { ...files, prompts: { ...files.prompts, [one.agent]: next } };
    }
    case 'document':
      return { ...files, sources: { ...files.sources, [one.key]: `${one.text}\n` } };

    case 'policy':
      return { ...files, policies: { [one.key]: policyOf(one.delay) } };

    case 'let go': {
      if (agents[one.agent] === undefined) return undefined;
      const address = `agent.${one.agent}`;
      return {
        ...withoutAgent(files, one.agent),
        forget: [...files.forget, address],
        moved: files.moved.filter(({ to }) => to !== address),
      };
    }
    default:
      return undefined;
  }
}
