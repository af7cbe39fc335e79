// A diagram of a page. In: its text, encoded for an attribute. Out: the drawing, made in the browser; until then its text.
import { defineComponent, h, onMounted, ref } from 'vue';

let drawings = 0;

export const Mermaid = defineComponent({
  props: { text: { type: String, required: true } },
  setup({ text }) {
    const source = decodeURIComponent(text);
    const drawing = ref<string>();
    onMounted(async () => {
      const { default: mermaid } = await import('mermaid');
      mermaid.initialize({ startOnLoad: false });
      const { svg } = await mermaid.render(`mermaid-${++drawings}`, source);
      drawing.value = svg;
    });
    return () => (drawing.value === undefined ? h('pre', source) : h('div', { innerHTML: drawing.value }));
  },
});
