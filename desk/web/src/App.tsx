import { useEffect, useState } from "react";
import { useImport } from "./ImportDialog";
import { storyInAddress } from "./route";
import { StartPage } from "./StartPage";
import { StoryPage } from "./StoryPage";

export function App() {
  const [story, setStory] = useState(storyInAddress);
  useEffect(() => {
    const moved = () => setStory(storyInAddress());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  const { onFile, shown } = useImport();
  return (
    <>
      {story ? <StoryPage key={story} id={story} /> : <StartPage onFile={onFile} />}
      {shown}
    </>
  );
}
