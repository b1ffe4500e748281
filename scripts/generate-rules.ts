// Renews the table of rules in docs/validation.md from src/core/rules.ts. `--check` writes nothing and
// exits with 1 where the page is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { RULES } from '../src/core/rules.ts';

const path = new URL('../docs/validation.md', import.meta.url);
const TABLE = /(?<=<!-- rules -->\n)[\s\S]*?(?=<!-- end -->)/;

const rows = [...RULES].map(([rule, { summary, remedy }]) =>
  [`\`${rule}\``, summary, remedy].map((cell) => cell.replaceAll('|', '\\|')),
);
const lines = [['rule', 'reports', 'what to do'], ['---', '---', '---'], ...rows].map(
  (cells) => `| ${cells.join(' | ')} |\n`,
);
const before = readFileSync(path, 'utf8');
if (!TABLE.test(before)) throw new Error('docs/validation.md has no place for the rules');
const after = before.replace(TABLE, () => lines.join(''));
if (after !== before) {
  if (process.argv.includes('--check')) {
    console.error('stale: docs/validation.md (node scripts/generate-rules.ts writes its rules)');
    process.exitCode = 1;
  } else {
    writeFileSync(path, after);
    console.log('wrote docs/validation.md');
  }
}
