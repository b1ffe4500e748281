import { type Flag, listPermissions, type Permission } from '../../src/console/flags.ts';
import type { Refusal } from '../../src/core/plan-document.ts';

/** The flag that overrides each guard which stands against a plan as a whole; null where nothing does. */
const OVERRIDES: { readonly [guard in Refusal['guard']]: string | null } = {
  freeze: '--override-freeze',
  hold: '--release-hold',
  limit: '--override-limits',
  behind: '--behind',
  rule: null,
};

/** How the shipped pipelines call a guard that a plan may pass. */
type Row = {
  readonly flag: string;
  /** The input of a workflow that is started by hand. */
  readonly name: string;
  /** The label of a pull request or merge request. */
  readonly label: string;
  /** The variable of a pipeline on GitLab. */
  readonly variable: string;
  /** The option of the plan document that the flag sets. */
  readonly option: string;
  /** True if the flag takes a reason. */
  readonly takesReason: boolean;
  readonly does: string;
};

function rowOf({ name, spelling, does, takesReason }: Permission): Row {
  const word = spelling.slice(2);
  const option = name === 'deleteUsed' ? 'force' : word.replaceAll('-', '_');
  return {
    flag: spelling,
    name: word,
    label: `callsheet-${word}`,
    variable: `CALLSHEET_${word.replaceAll('-', '_').toUpperCase()}`,
    option,
    takesReason,
    does,
  };
}

/** The module with the table, for the scripts of the pipelines. */
export function renderGuardTable(): string {
  const rows = listPermissions().map(rowOf);
  const quote = (value: string | boolean | null) =>
    typeof value === 'string' && !value.includes("'") ? `'${value}'` : JSON.stringify(value);
  const lines = rows.map((row) => {
    const members = Object.entries(row).map(([key, value]) => `    ${key}: ${quote(value)},`);
    return `  {\n${members.join('\n')}\n  },`;
  });
  const overrides = Object.entries(OVERRIDES).map(([guard, flag]) => `  ${guard}: ${quote(flag)},`);
  return `// The guards that a plan may pass, by whom it is reviewed. Made by \`npm run generate\` from the table of flags.

/** Each with its flag, its label, the input of a workflow that is started by hand, and its variable on GitLab. */
export const GUARDS = [
${lines.join('\n')}
];

/** The flag that overrides what stands against a plan as a whole. */
export const OVERRIDES = {
${overrides.join('\n')}
};
`;
}

/** The comment lines of a pipeline between which its guards are listed. */
const BLOCK =
  /(?<=^ *# What lets a plan pass its guards.*\n)[\s\S]*?(?=^ *# That is all of them\.$)/gm;

/** Fills the guards into a workflow of GitHub: its inputs. */
export function withGuardInputs(workflow: string): string {
  const inputs = listPermissions()
    .map(rowOf)
    .map(({ name, does, takesReason }) => {
      const kind = takesReason
        ? ['type: string', 'default: ""']
        : ['type: boolean', 'default: false'];
      const members = [`description: ${JSON.stringify(describe(does, takesReason))}`, ...kind];
      return `      ${name}:\n${members.map((line) => `        ${line}\n`).join('')}`;
    });
  return fill(workflow, inputs.join(''));
}

/** Fills the guards into a pipeline of GitLab: its variables. */
export function withGuardVariables(pipeline: string): string {
  const lines = listPermissions()
    .map(rowOf)
    .map(({ variable, does, takesReason }) => {
      return `  # ${describe(does, takesReason)}\n  ${variable}: ""\n`;
    });
  return fill(pipeline, lines.join(''));
}

function fill(text: string, lines: string): string {
  if (!text.match(BLOCK)) throw new Error('there is no place for the guards');
  return text.replace(BLOCK, () => lines);
}

function describe(does: Flag['does'], takesReason: boolean): string {
  return `${takesReason ? 'The reason to ' : ''}${takesReason ? does : does.charAt(0).toUpperCase() + does.slice(1)}`;
}
