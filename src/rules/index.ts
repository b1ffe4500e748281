export { compileRule, judgeResources, planRules, type Rule, type RuleFinding } from './judge.ts';
