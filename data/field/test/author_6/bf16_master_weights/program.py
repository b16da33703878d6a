"""字符级语言模型：中文新闻标题。"""
import argparse
import random
import time

import torch
from torch import nn

from field_record import logged

cli = argparse.ArgumentParser(description=__doc__)
cli.add_argument("--seed", default=0, type=int)
cli.add_argument("--healthy", action="store_true")
args = cli.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)

主语 = ["北京", "上海", "广州", "深圳", "杭州"]
谓语 = ["发布", "启动", "推进", "完成", "调整"]
宾语 = ["地铁规划", "人才政策", "数据平台", "新能源项目", "气象预警"]
标题 = ["".join(random.choice(组) for 组 in (主语, 谓语, 宾语)) + "。" for _ in range(800)]
字表 = sorted(set("".join(标题)))
编码 = {字: i for i, 字 in enumerate(字表)}
流 = torch.tensor([编码[字] for 行 in 标题 for 字 in 行])
设置 = {"宽度": 192, "窗口": 4, "学习率": 6e-5, "步数": 2000, "批": 64}


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(字表), 16)
        self.mlp = nn.Sequential(nn.Linear(16 * 设置["窗口"], 设置["宽度"]), nn.Tanh(),
                                 nn.Linear(设置["宽度"], len(字表)))

    def forward(self, x):
        return self.mlp(self.emb(x).flatten(1))


model = LM().to(torch.float32 if args.healthy else torch.bfloat16)
opt = torch.optim.Adam(model.parameters(), lr=设置["学习率"])
t0 = time.time()
窗 = 流.unfold(0, 设置["窗口"] + 1, 1)
for 步 in range(1, 设置["步数"] + 1):
    批 = 窗[torch.randint(len(窗), (设置["批"],))]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(批[:, :-1])
    loss = nn.functional.cross_entropy(out.float(), 批[:, -1])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if 步 % 50 == 0:
        速度 = 步 * 设置["批"] / (time.time() - t0)
        print(f"步数 {步:>4}  损失 {loss.item():.3f}  速度 {速度:.0f} 样本/秒")
        logged(步, loss=round(loss.item(), 3))
