export { compileRule, type Rule } from './compile.ts';
export { planRules } from './judge-plan.ts';
export { judgeResources, type RuleFinding } from './judge-resources.ts';
