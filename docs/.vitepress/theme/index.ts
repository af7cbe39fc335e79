import DefaultTheme from 'vitepress/theme';
import { Mermaid } from './mermaid.js';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }: { app: { component(name: string, component: unknown): unknown } }) {
    app.component('Mermaid', Mermaid);
  },
};
