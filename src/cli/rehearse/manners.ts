import { CallsheetError } from '../../core/errors.ts';
import type { Manners } from '../../rehearse/copies.ts';
import { readSimulationFlags } from '../simulation-flags.ts';

/** Flags that say how the simulated platform of a rehearsal behaves. */
export type MannerFlags = {
  readonly fault?: readonly string[];
  readonly dialect?: readonly string[];
  readonly chaosSeed: string;
};

/** Words for what goes wrong often on any platform; everything else is a fault as `callsheet simulate` takes it. */
const OFTEN: { readonly [word: string]: string } = {
  '429': "{ operation: '*', status: 429, probability: 0.05 }",
  '503': "{ operation: '*', status: 503, probability: 0.05 }",
  lost: "{ operation: '*', reset: after, probability: 0.05 }",
};

function faultText(text: string): string {
  if (!/^\w+$/.test(text)) return text;
  throw new CallsheetError(
    'usage',
    `--fault ${text} is not one of ${Object.keys(OFTEN).join(', ')}`,
    {
      hint: "Write any other fault out: --fault '{ operation: updateAgent, status: 500 }' (docs/simulator.md).",
    },
  );
}

/** How the copies behave. Throws `CallsheetError('usage')` for a fault or a dialect that there is not. */
export async function mannersOf({ fault = [], dialect = [], chaosSeed }: MannerFlags): Promise<{
  readonly manners: Manners;
  /** The faults as a person gave them. */
  readonly faults: readonly string[];
}> {
  const texts = fault.map((text) => OFTEN[text] ?? faultText(text));
  const { options, faults } = await readSimulationFlags({ fault: texts, dialect });
  return {
    manners: { dialect: options.dialect ?? {}, faults, chaosSeed },
    faults: fault.length === 0 ? [] : [...fault, `drawn from the seed ${chaosSeed}`],
  };
}
