export { compileRule, type Rule } from './compile.ts';
export { judgeResources, planRules, type RuleFinding } from './judge.ts';
